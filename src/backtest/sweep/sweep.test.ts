import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { documentOf } from './document.ts'
import { planOf, type SweepRequest } from './plan.ts'
import { runsOf, runSweep } from './sweep.ts'
import type { BacktestTask, TaskReport, TaskRunner } from './task.ts'
import { Trials, type TrialResult } from './trials.ts'

const DAY = 86_400_000

const BASE: BacktestTask = {
  strategy: 'ma_crossover',
  parameters: {},
  fromMs: null,
  toMs: null,
  seed: 1,
  data: [],
  isFromLog: false,
  resetsDaily: false,
}

const REQUEST: SweepRequest = {
  base: BASE,
  space: [
    { name: 'fast', values: [2, 3, 4, 5, 6, 7, 8, 9, 10] },
    { name: 'slow', values: [20, 30, 40] },
  ],
  random: null,
  halving: false,
  walkForward: null,
  folds: null,
  metric: 'sharpe',
  falseDiscoveryRate: 0.05,
}

const RANGE = { fromMs: 0, toMs: 90 * DAY }

/** A strategy with known daily returns: noise, plus `edge` where fast is 7 and slow 30. */
const reportOf = ({ parameters, fromMs, toMs }: BacktestTask, edge: number): TaskReport => {
  const { fast, slow } = parameters as { readonly fast: number; readonly slow: number }
  const first = Math.round((fromMs ?? 0) / DAY)
  const days = Math.round(((toMs ?? 0) - (fromMs ?? 0)) / DAY)
  let equity = 10_000
  const equities = Array.from({ length: days }, (_, index) => {
    const day = first + index
    const noise = Math.sin(day * 12.9898 + fast * 78.233 + slow * 37.719) * 43_758.5453
    equity *= 1 + (noise - Math.floor(noise) - 0.5) / 50 + (fast === 7 && slow === 30 ? edge : 0)
    return equity
  })
  const total = (equities.at(-1) ?? 10_000) / 10_000 - 1
  return {
    start_equity_usd: 10_000,
    equity_usd_by_day: equities,
    days,
    trades: days,
    from: new Date(fromMs ?? 0).toISOString(),
    to: new Date(toMs ?? 0).toISOString(),
    total_return: total,
    // A run of a few days: sweeps rank by the numbers that its figures leave out.
    sharpe: null,
    p_value: null,
    ranking: { sharpe: total * 10, p_value: total > 0.5 ? 1 / 2001 : 0.2 + 0.01 * fast },
    max_drawdown: 0.1,
    kill_switch: { stops: fast === 2 ? 3 : 0 },
  } as unknown as TaskReport
}

/** A runner that finishes tasks in another order than requested. */
const runnerOf = (width: number, edge: number, tasks: BacktestTask[] = []): TaskRunner => ({
  width,
  run: async (task) => {
    tasks.push(task)
    for (let turn = (tasks.length * 7) % 5; turn > 0; turn -= 1) await Promise.resolve()
    return reportOf(task, edge)
  },
  close: async () => undefined,
})

const uniform = (): (() => number) => {
  let state = 12_345
  return () => (state = (state * 48_271) % 0x7fffffff) / 0x7fffffff
}

const sweepOf = async (
  change: Partial<SweepRequest>,
  { width = 3, edge = 0, known = new Map<string, TrialResult>(), tasks = [] as BacktestTask[] } = {},
) => {
  const request = { ...REQUEST, ...change }
  const plan = planOf(request, RANGE, uniform())
  const kept = new Map<string, TrialResult>(known)
  const progress: number[] = []
  const trials = new Trials({
    runner: runnerOf(width, edge, tasks),
    base: BASE,
    known,
    onResult: async (key, result) => {
      kept.set(key, result)
    },
    onProgress: (done) => {
      progress.push(done)
    },
    signal: new AbortController().signal,
  })
  const outcome = await runSweep(plan, trials, uniform())
  const document = documentOf(
    {
      base: request.base,
      space: request.space,
      plan,
      isRandom: false,
      runs: runsOf(plan),
      stoppedRuns: trials.stopped,
      leftOut: null,
      heat: null,
    },
    outcome,
  )
  return { document, kept, progress, plan }
}

const KINDS: Readonly<Record<string, Partial<SweepRequest>>> = {
  grid: {},
  random: { random: 9 },
  halving: { halving: true },
  'walk-forward windows': { walkForward: { trainMs: 30 * DAY, testMs: 15 * DAY } },
  folds: { folds: { count: 3, embargoMs: 2 * DAY } },
}

describe.each(Object.entries(KINDS))('a sweep by %s', (_name, change) => {
  it('gives the same with any number of processes, and wherever it was interrupted', async () => {
    const whole = await sweepOf(change, { width: 1 })
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 8 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (width, share) => {
          const known = new Map([...whole.kept].slice(0, Math.floor(whole.kept.size * share)))
          const tasks: BacktestTask[] = []
          const again = await sweepOf(change, { width, known, tasks })
          expect(again.document).toStrictEqual(whole.document)
          expect(tasks).toHaveLength(whole.kept.size - known.size)
        },
      ),
      { numRuns: 20 },
    )
  })

  it('runs as often as it said, and says how far it is', async () => {
    const tasks: BacktestTask[] = []
    const { plan, progress } = await sweepOf(change, { tasks })
    expect(tasks).toHaveLength(runsOf(plan))
    expect(progress.at(-1)).toBe(runsOf(plan))
    expect(progress).toStrictEqual(progress.toSorted((one, other) => one - other))
  })

  it('finds an edge that is there, and says so plainly where none is', async () => {
    const there = await sweepOf(change, { edge: 0.012 })
    // A combination that was not drawn cannot be found.
    const isDrawn = there.plan.combinations.some(({ fast, slow }) => fast === 7 && slow === 30)
    expect(there.document.edge_found).toBe(isDrawn)
    const { document } = await sweepOf(change)
    expect(document.edge_found).toBe(false)
    expect(document.verdict).toMatch(/^no edge found: .*p = [\d.]+.* trades/)
  })
})

describe('a grid', () => {
  it('has its best first, corrected for all trials, and a heat map', async () => {
    const { document } = await sweepOf({}, { edge: 0.012 })
    const [best] = document.results
    expect(best).toMatchObject({ parameters: { fast: 7, slow: 30 }, survives: true })
    expect(document.survivors).toBe(1)
    expect(document.results.every(({ q_value, p_value }) => q_value >= p_value)).toBe(true)
    expect(document.heat_map).toMatchObject({ x: 'fast', y: 'slow', xs: REQUEST.space[0]?.values })
    expect(document.heat_map?.cells[1]?.[5]).toBe(best?.sharpe)
  })
})

describe('a sweep', () => {
  it('says in how many runs the kill switch stopped entries', async () => {
    const { document } = await sweepOf({})
    expect(document.stopped_runs).toBe(3)
    expect(document.verdict).toMatch(
      /; the kill switch stopped entries in 3 of 27 runs, and was not reset daily$/,
    )
    const reset = await sweepOf({ base: { ...BASE, resetsDaily: true } })
    expect(reset.document.verdict).toMatch(/; the kill switch stopped entries in 3 of 27 runs$/)
    const without = await sweepOf({
      space: [
        { name: 'fast', values: [3, 4] },
        { name: 'slow', values: [20] },
      ],
    })
    expect(without.document.stopped_runs).toBe(0)
    expect(without.document.verdict).not.toMatch(/kill switch/)
  })

  it('stops at the first run that fails, and keeps what is done', async () => {
    const plan = planOf(REQUEST, RANGE, uniform())
    const kept: string[] = []
    const good = runnerOf(2, 0)
    const trials = new Trials({
      runner: {
        ...good,
        run: async (task, options) => {
          if (task.parameters['fast'] === 5) throw new Error('the disk is full')
          return good.run(task, options)
        },
      },
      base: BASE,
      known: new Map(),
      onResult: async (key) => {
        kept.push(key)
      },
      onProgress: () => undefined,
      signal: new AbortController().signal,
    })
    await expect(runSweep(plan, trials, uniform())).rejects.toThrow('the disk is full')
    expect(kept.length).toBeGreaterThanOrEqual(9)
    expect(kept.length).toBeLessThan(27)
  })

  it('divides its time in one way', () => {
    const folds = { count: 2, embargoMs: 0 }
    expect(() => planOf({ ...REQUEST, halving: true, folds }, RANGE, uniform())).toThrow('exclude each other')
  })

  it('needs to know its time where that is divided', () => {
    expect(() => planOf({ ...REQUEST, halving: true }, null, uniform())).toThrow('the time must be named')
  })
})
