import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { appendTo } from '../../test/records.fixture.ts'
import { MemoryLog } from '../adapters/storage/memory/memory-log.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import { barAt } from '../core/market/bars.fixture.ts'
import { timestampOf } from '../core/shared/brand.ts'
import { timestampAt } from '../core/shared/time.ts'
import { openTestHome } from '../surfaces/cli/test-home.fixture.ts'
import { createCommandDependencies } from './command-dependencies.ts'
import { environmentOf } from './environment.ts'
import { openReplay, ReplayRefusedError } from './replay.ts'

const HOUR_S = 3600
const FIRST = '2024-02-01T00:00:00.000Z'
const SECOND = '2024-02-01T01:00:00.000Z'
const THIRD = '2024-02-01T02:00:00.000Z'
const configuration = {
  ...DEFAULT_CONFIGURATION,
  market: { ...DEFAULT_CONFIGURATION.market, feed: 'file', file: 'bars.csv' },
  universe: { ...DEFAULT_CONFIGURATION.universe, symbols: ['BTC'] },
} as const

let home = ''
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'replay-'))
  const rows = [SECOND, FIRST, THIRD].map((ts) => `${ts},BTC,1,1,1,1,1`)
  await writeFile(join(home, 'bars.csv'), ['ts,symbol,open,high,low,close,volume', ...rows, ''].join('\n'))
})
afterAll(() => rm(home, { recursive: true }))

const withBar = async (feed: string, recordedAt: string): Promise<MemoryLog> => {
  const log = new MemoryLog()
  const payload = { feed, ...barAt(FIRST, 1, { resolution_s: HOUR_S }) }
  await appendTo(log, 1, () => ({ type: 'market.bar.v1', recordedAt: timestampOf(recordedAt), payload }))
  return log
}
const nowIn = async (log: MemoryLog): Promise<string> =>
  timestampAt((await openReplay(home, configuration, log)).clock.now())

it('begins with the first bar, and fits the settings to its length', async () => {
  const replay = await openReplay(home, configuration, new MemoryLog())
  expect(timestampAt(replay.time.now())).toBe(FIRST)
  const settings = replay.settings(configuration)
  expect(settings).toMatchObject({ market: { bar_seconds: HOUR_S }, ta: { bar_seconds: HOUR_S } })
  expect(replay.settings(configuration)).toBe(settings)
})

it('goes on where it stopped, also in a gap', async () => {
  const log = await withBar('file', SECOND)
  expect(await nowIn(log)).toBe(SECOND)
  await appendTo(log, 1, () => ({ type: 'system.test.v1', recordedAt: timestampOf(THIRD), payload: {} }))
  expect(await nowIn(log)).toBe(THIRD)
})

it.each([
  ['bars of another feed', () => withBar('simulated', SECOND)],
  ['bars that were recorded by the clock of the machine', () => withBar('file', '2026-02-20T00:00:00.000Z')],
])('refuses a log with %s', async (_what, logOf) => {
  const log = await logOf()
  await expect(openReplay(home, configuration, log)).rejects.toThrow(ReplayRefusedError)
  await expect(openReplay(home, configuration, log)).rejects.toThrow('set SVC_HOME to a new folder')
})

it('gives commands the clock and the settings of the bars', async () => {
  const folder = await openTestHome()
  try {
    const rows = [FIRST, SECOND].map((ts) => `${ts},BTC,1,1,1,1,1`)
    await writeFile(
      join(folder.folder, 'bars.csv'),
      ['ts,symbol,open,high,low,close,volume', ...rows, ''].join('\n'),
    )
    const environment = {
      SVC_API__AUTH_TOKEN: 'a-token-of-more-than-thirty-two-characters',
      SVC_MARKET__FEED: 'file',
      SVC_MARKET__FILE: 'bars.csv',
      SVC_UNIVERSE__SYMBOLS: 'BTC',
      SVC_INSECURE_OK: '1',
    }
    const run = async (...words: readonly string[]) => {
      const dependencies = createCommandDependencies(environmentOf(folder.folder, environment, 'test'))
      const { exitCode, stdout, stderr } = await folder.run(words, { environment, dependencies })
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
      return stdout
    }
    const named = ['--name', 'p1', '--domain', 'events', '--endpoint', 'https://x.test']
    await run('producers', 'register', ...named)
    const { producers } = JSON.parse(await run('producers', 'list', '--json')) as {
      readonly producers: readonly { readonly registered_at: string }[]
    }
    expect(producers[0]?.registered_at).toBe(FIRST)
    expect(await run('producers', 'list')).toMatch(/ 0s$/m)
    await run('brain')
    // The cycle decided with the settings for bars of an hour.
    expect(JSON.parse(await run('brain', 'explain', '--json'))).toMatchObject({
      ts: FIRST,
      rules_changed: false,
    })
    expect(await run('producers', 'status')).toContain('p1')
  } finally {
    await folder.close()
  }
})
