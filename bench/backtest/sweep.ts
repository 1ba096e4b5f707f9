import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, medianRatio, type BenchRow } from '../harness.ts'
import { measuredSvc, SERIES, storeMinutes, type Measured } from './commands.ts'

/**
 * `svc sweep` as users run it: a grid over months of minutes in Parquet files, two processes against one, including the
 * start of all processes. Wall-clock time means nothing on fewer than two free cores. Processor time, which Linux
 * counts, is valid there. A few short runs show the cost of starting a process.
 */
export const benchSweep = async (rounds: number, quick: boolean): Promise<readonly BenchRow[]> => {
  const home = mkdtempSync(join(tmpdir(), 'signal-engine-sweep-'))
  try {
    const bars = quick ? SHORT_BARS : 260_000
    await storeMinutes(home, bars)
    const grid = await compare(rounds, home, { fast: '2..9', slow: '20..80:10', runs: 56 })
    const to = new Date(BEGIN_MS + SHORT_BARS * 60_000).toISOString()
    const few = await compare(rounds, home, { fast: '2..9', slow: '50', runs: 8, to })
    const short = `8 runs of ${SHORT_BARS} bars`
    return [
      ...rowsOf('sweep', `56 runs of ${bars} bars`, '>= 0.85', grid),
      ...rowsOf('sweep-short', short, 'mostly the start', few),
    ]
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

const SHORT_BARS = 40_000
const BEGIN_MS = Date.UTC(2021, 0, 1)

interface Compared {
  /** Results of two processes relative to one. */
  readonly clock: number
  /** Null on systems that do not count it. */
  readonly processor: number | null
  readonly runsPerSecond: Readonly<Record<'one' | 'two', number>>
}

const rowsOf = (
  id: string,
  what: string,
  target: string,
  { clock, processor, runsPerSecond: { one, two } }: Compared,
): readonly BenchRow[] => [
  {
    id,
    what: `svc sweep per core, ${what} with two processes (${two.toFixed(2)} runs/s)`,
    value: clock,
    target,
    baseline: `one process (${one.toFixed(2)} runs/s)`,
  },
  ...(processor === null
    ? []
    : [
        {
          id: `${id}-cpu`,
          what: 'the same, in processor time',
          value: processor,
          target,
          baseline: 'processor time of one process',
        },
      ]),
]

const compare = async (rounds: number, home: string, grid: Grid): Promise<Compared> => {
  const [ones, twos]: [Cost[], Cost[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    ones.push(await costOf(home, grid, 1))
    twos.push(await costOf(home, grid, 2))
  }
  const clocks = (costs: readonly Cost[]): readonly number[] => costs.map(({ clockMs }) => clockMs)
  const processors = (costs: readonly Cost[]): readonly number[] =>
    costs.flatMap(({ processorMs }) => processorMs ?? [])
  const runsPerSecond = (costs: readonly Cost[]): number => (grid.runs * 1000) / median(clocks(costs))
  return {
    clock: medianRatio(clocks(ones), clocks(twos)) / 2,
    processor: processors(ones).length === 0 ? null : medianRatio(processors(ones), processors(twos)),
    runsPerSecond: { one: runsPerSecond(ones), two: runsPerSecond(twos) },
  }
}

interface Grid {
  readonly fast: string
  readonly slow: string
  readonly runs: number
  readonly to?: string
}

type Cost = Pick<Measured, 'clockMs' | 'processorMs'>

const costOf = async (home: string, { fast, slow, runs, to }: Grid, workers: number): Promise<Cost> => {
  const values = ['--set', `fast=${fast}`, '--set', `slow=${slow}`, ...(to === undefined ? [] : ['--to', to])]
  const words = ['--data', SERIES, '--reset-daily', '--workers', String(workers), '--fresh', '--json']
  const measured = await measuredSvc(home, ['sweep', 'ma_crossover', ...values, ...words])
  const made = JSON.parse(measured.printed) as { readonly runs: number; readonly reused_runs: number }
  if (made.runs !== runs || made.reused_runs !== 0)
    throw new Error(`a sweep of ${runs} runs made ${made.runs}, of which ${made.reused_runs} were old`)
  return measured
}
