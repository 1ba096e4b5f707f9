import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BacktestTask } from '../backtest/sweep/task.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import type { RunLimits } from './run-child.ts'
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

const LIMITS = { loadMsMax: 60_000, answerMsMax: 60_000, memoryMbMax: 512 }

/** A file with a strategy whose `onBar` has this body. */
const writeStrategy = async (name: string, body: string, before = ''): Promise<void> => {
  await mkdir(join(home, 'strategies'), { recursive: true })
  await writeFile(
    join(home, 'strategies', `${name}.mjs`),
    `import { z } from 'zod'
    ${before}
    export default {
      name: '${name}', parameters: z.object({ n: z.int().default(1) }), timeframes: ['1h'], warmUpBars: 0,
      create: ({ n }) => ({ onBar: (view) => { ${body} } }),
    }`,
  )
}

const runOf = (strategy: string, more: Partial<BacktestTask> = {}) =>
  processes.run(
    { ...days('2026-01-05', '2026-01-07'), strategy, ...more },
    { signal: new AbortController().signal, onProgress: () => undefined },
  )

const withLimits = async (limits: Partial<RunLimits>): Promise<void> => {
  await processes.close()
  const settings = runSettingsOf(DEFAULT_CONFIGURATION)
  const options = { home, version: '1.2.3', width: 1, settings: () => settings }
  processes = new RunProcesses({ ...options, limits: { ...LIMITS, ...limits } })
}

describe('the process of a run', () => {
  it.skipIf(process.platform === 'win32')('has none of our variables', async () => {
    await mkdir(join(home, 'strategies'))
    const strategy = join(home, 'strategies', 'curious')
    await writeFile(`${strategy}.yaml`, 'command: [sh, curious.sh]\ntimeframes: [1h]\n')
    await writeFile(
      `${strategy}.sh`,
      'cat /proc/$PPID/environ > ../seen\nwhile read -r line; do echo null; done\n',
    )
    process.env['SVC_TEST_SECRET'] = 'secret-of-the-vault'
    try {
      await runOf('curious')
    } finally {
      delete process.env['SVC_TEST_SECRET']
    }
    const names = (await readFile(join(home, 'seen'), 'utf8')).split('\0').map((one) => one.split('=')[0])
    expect(names).toContain('PATH')
    expect(names.filter((name) => name?.startsWith('SVC_'))).toEqual([])
  })
})

describe('a strategy of the user inside the process of its run', () => {
  it('trades', async () => {
    await writeStrategy('trades', `return { side: view.position === null ? 'long' : 'flat' }`)
    const report = await runOf('trades', { parameters: { n: 2 } })
    expect(report).toMatchObject({ strategy: 'trades', parameters: { n: 2 } })
    expect(report.trades).toBeGreaterThan(5)
  })

  it('reads its folder and the code of the service, and neither secrets nor anything else', async () => {
    await mkdir(join(home, 'identity'))
    await writeFile(join(home, 'identity', 'identity.json'), '{}')
    await mkdir(join(home, 'data', 'bars'), { recursive: true })
    await writeStrategy(
      'curious',
      `throw new Error(JSON.stringify(loot()))`,
      `import { execFileSync } from 'node:child_process'
      import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
      import { Worker } from 'node:worker_threads'
      const acts = {
        'its own environment': () => readFileSync('/proc/self/environ'),
        'the environment of its parent': () => readFileSync('/proc/' + process.ppid + '/environ'),
        'the identity': () => readFileSync(${JSON.stringify(join(home, 'identity', 'identity.json'))}),
        'bars of other runs': () => readdirSync(${JSON.stringify(join(home, 'data', 'bars'))}),
        'a program': () => execFileSync('true'),
        'a thread': () => new Worker('', { eval: true }),
        'a file of its folder': () => writeFileSync(${JSON.stringify(join(home, 'strategies', 'x.js'))}, ''),
      }
      readdirSync(${JSON.stringify(join(home, 'strategies'))})
      const loot = () => ({
        done: Object.entries(acts).flatMap(([name, act]) => {
          try { act() } catch (error) { return error.code === 'ERR_ACCESS_DENIED' ? [] : [name + ': ' + error.code] }
          return [name]
        }),
        variables: Object.keys(process.env).filter((name) => !['PATH', 'TZ', 'LANG', 'LC_ALL'].includes(name)),
      })`,
    )
    process.env['SVC_TEST_SECRET'] = 'secret-of-the-vault'
    try {
      await expect(runOf('curious')).rejects.toThrow('curious: {"done":[],"variables":[]}')
    } finally {
      delete process.env['SVC_TEST_SECRET']
    }
  })

  it('that hangs is ended, and the next run starts', async () => {
    await withLimits({ answerMsMax: 1000 })
    await writeStrategy('hangs', 'for (;;) {}')
    const message = 'hangs: no answer in 1 seconds: does it loop without an end?'
    await expect(runOf('hangs')).rejects.toMatchObject({ code: 'strategy.failed', message })
    expect((await runOf('hold')).strategy).toBe('hold')
  })

  it('that hangs while it is loaded is ended', async () => {
    await withLimits({ loadMsMax: 3000 })
    await writeStrategy('endless', 'return null', 'for (;;) {}')
    await expect(runOf('endless')).rejects.toThrow('endless: no answer in 3 seconds')
  })

  it('that is slow on each bar, but returns, goes on for longer than an answer may take', async () => {
    await withLimits({ answerMsMax: 1500 })
    await writeStrategy(
      'slow',
      'const untilMs = performance.now() + 100; while (performance.now() < untilMs); return null',
    )
    expect((await runOf('slow')).bars).toBeGreaterThan(0)
  })

  it('that ends the process is an error', async () => {
    await withLimits({})
    await writeStrategy('exits', 'process.exit(0)')
    await expect(runOf('exits')).rejects.toThrow('exits: its process ended: it must not call process.exit')
  })

  it('that takes all memory is an error', async () => {
    await withLimits({ memoryMbMax: 200 })
    await writeStrategy('eats', 'const all = []; for (;;) all.push(new Array(100000).fill(1.5))')
    await expect(runOf('eats')).rejects.toThrow('eats: out of memory: it may use 200 MB')
  })

  it('that fails later, outside of onBar, is an error', async () => {
    await withLimits({})
    await writeStrategy(
      'late',
      `if (!isAsked) Promise.resolve().then(() => { throw new TypeError('oops') }); isAsked = true; return null`,
      'let isAsked = false',
    )
    await expect(runOf('late')).rejects.toThrow('late: its process failed: TypeError: oops')
  })

  it('is an error with its line when it throws', async () => {
    await writeStrategy('throws', `throw new Error('oops')`)
    await expect(runOf('throws')).rejects.toThrow(/^throws: oops \(throws\.mjs:\d+\)$/)
  })

  it('begins each run with new variables of its modules, also after it has changed', async () => {
    await writeStrategy(
      'counts',
      'calls += 1; if (calls > 1000) throw new Error("too many")',
      'let calls = 0',
    )
    const { bars } = await runOf('counts')
    expect(bars).toBeLessThan(1000)
    for (let run = 0; run < 8; run += 1) await runOf('counts')
    await writeStrategy('counts', `throw new Error('changed')`)
    await expect(runOf('counts')).rejects.toThrow('counts: changed')
  })

  it('leaves nothing to the run of another strategy', async () => {
    await writeStrategy('leaves', 'globalThis.left = 1; return null')
    await writeStrategy('finds', 'throw new Error(`found ${globalThis.left}`)')
    await runOf('leaves')
    await expect(runOf('finds')).rejects.toThrow('finds: found undefined')
  })
})
