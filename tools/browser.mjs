import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import process from 'node:process'

import { withSetupLock } from './setup.mjs'
import { runCaptured } from './spawn.mjs'

/** Names another browser than the one of the machine. */
export const BROWSER_VARIABLE = 'SVC_TEST_BROWSER'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** The Chromium that browser tests drive, or undefined. */
export const findBrowser = () => {
  const given = process.env[BROWSER_VARIABLE]
  if (given !== undefined && given !== '') return given
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isExecutable)
}

/**
 * Installs Chromium where that is one command and allowed: on Debian, as root. Elsewhere the tests that need one are
 * skipped and say so. Returns undefined: a missing browser is no failure of ours.
 */
export const ensureBrowser = (root, say) => {
  if (findBrowser() !== undefined) return undefined
  if (process.getuid?.() !== 0 || !isExecutable('/usr/bin/apt-get')) {
    say(`no Chromium: browser tests are skipped (install one, or name one in ${BROWSER_VARIABLE})`)
    return undefined
  }
  return withSetupLock(root, say, async () => {
    if (findBrowser() !== undefined) return undefined
    say('installing Chromium for the browser tests')
    await runCaptured('apt-get', ['update'])
    const env = { DEBIAN_FRONTEND: 'noninteractive' }
    const { exitCode, output } = await runCaptured('apt-get', ['install', '-y', 'chromium'], { env })
    return exitCode === 0 ? undefined : `Chromium could not be installed\n${output}`
  })
}

const isExecutable = (file) => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    // Not there or not ours to run: no browser for us.
    return false
  }
}
