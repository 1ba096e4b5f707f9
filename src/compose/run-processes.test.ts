import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BacktestTask } from '../backtest/sweep/task.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import { RunProcesses } from './run-processes.ts'
import { runSettingsOf } from './run-settings.ts'

let home: string
let processes: RunProcesses
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'svc-run-processes-'))
  const settings = runSettingsOf(DEFAULT_CONFIGURATION)
  processes = new RunProcesses({ home, version: '1.2.3', width: 1, settings: () => settings })
})
afterEach(async () => {
  await processes.close()
  await rm(home, { recursive: true })
})

const days = (from: string, to: string): BacktestTask => ({
  strategy: 'hold',
  parameters: {},
  symbol: 'BTC',
  fromMs: Date.parse(from),
  toMs: Date.parse(to),
  data: [],
  isFromLog: false,
  resetsDaily: false,
})

describe('runs that wait for a process', () => {
  it('begin when those before them are cancelled, also one that still waits', async () => {
    const cancelled = new AbortController()
    const run = (task: BacktestTask, { signal }: AbortController) =>
      processes.run(task, { signal, onProgress: () => undefined })
    const first = run(days('2026-01-05', '2027-01-05'), cancelled)
    const second = run(days('2026-01-05', '2027-01-05'), cancelled)
    const third = run(days('2026-01-05', '2026-01-06'), new AbortController())

    cancelled.abort(new Error('not wanted any more'))

    await expect(first).rejects.toThrow('not wanted any more')
    await expect(second).rejects.toThrow('not wanted any more')
    expect((await third).strategy).toBe('hold')
  })
})

describe('the process of a run', () => {
  it('has none of our variables', async () => {
    await mkdir(join(home, 'strategies'))
    await writeFile(
      join(home, 'strategies', 'curious.mjs'),
      `import { readFileSync, writeFileSync } from 'node:fs'
      import { z } from 'zod'
      writeFileSync(new URL('../seen', import.meta.url), readFileSync('/proc/self/environ'))
      export default {
        name: 'curious', parameters: z.object({}), timeframes: ['1h'], warmUpBars: 0,
        create: () => ({ onBar: () => null }),
      }`,
    )
    process.env['SVC_TEST_SECRET'] = 'secret-of-the-vault'
    try {
      const task = { ...days('2026-01-05', '2026-01-07'), strategy: 'curious' }
      await processes.run(task, { signal: new AbortController().signal, onProgress: () => undefined })
    } finally {
      delete process.env['SVC_TEST_SECRET']
    }
    const names = (await readFile(join(home, 'seen'), 'utf8')).split('\0').map((one) => one.split('=')[0])
    expect(names).toContain('PATH')
    expect(names.filter((name) => name?.startsWith('SVC_'))).toEqual([])
  })
})
