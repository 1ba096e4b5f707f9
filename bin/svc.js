#!/usr/bin/env node
/** The entry point of the command line: what it does is in src/cli.ts, built to dist/cli.js. */
import { existsSync } from 'node:fs'
import module from 'node:module'
import process from 'node:process'

import { nameSourceLines } from './source-lines.js'

// Node starts its debugger on this signal, through which any program of the same user could read the secrets of this
// process. A listener of ours replaces that. Debug with "node --inspect".
process.on('SIGUSR1', () => undefined)

const cli = new URL('../dist/cli.js', import.meta.url)

if (existsSync(cli)) {
  nameSourceLines()
  // Since Node 22.8: compiled code is kept on disk between runs.
  module.enableCompileCache?.()
  await import(cli.href)
} else {
  process.stderr.write(
    'error: the service is not built. In a checkout run "npm ci" and "npm run build". ' +
      'To install without development packages, install the archive that "npm pack" makes.\n',
  )
  process.exitCode = 1
}
