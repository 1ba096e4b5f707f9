import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { median, medianRatio, type BenchRow } from '../harness.ts'
import { minutesOf } from './minutes.ts'

const SVC = join(process.cwd(), 'bin', 'svc.js')
const SERIES = 'bench:BTC-USDT:1m'

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

const storeMinutes = async (home: string, count: number): Promise<void> => {
  const file = join(home, 'minutes.csv')
  const written = createWriteStream(file)
  for (const [bar] of minutesOf(['BTC'], count)) {
    if (bar === undefined) continue
    const { open_ts, open, high, low, close, volume } = bar
    if (!written.write(`${Date.parse(open_ts)},${open},${high},${low},${close},${volume}\n`))
      await once(written, 'drain')
  }
  written.end()
  await finished(written)
  await svc(home, [
    'data',
    'import',
    file,
    '--exchange',
    'bench',
    '--symbol',
    'BTC/USDT',
    '--timeframe',
    '1m',
  ])
}

interface Grid {
  readonly fast: string
  readonly slow: string
  readonly runs: number
  readonly to?: string
}

interface Cost {
  readonly clockMs: number
  readonly processorMs: number | null
}

const costOf = async (home: string, { fast, slow, runs, to }: Grid, workers: number): Promise<Cost> => {
  const [startMs, usedMs] = [performance.now(), childrenMs()]
  const values = ['--set', `fast=${fast}`, '--set', `slow=${slow}`, ...(to === undefined ? [] : ['--to', to])]
  const words = ['--data', SERIES, '--reset-daily', '--workers', String(workers), '--fresh', '--json']
  const made = JSON.parse(await svc(home, ['sweep', 'ma_crossover', ...values, ...words])) as {
    readonly runs: number
    readonly reused_runs: number
  }
  if (made.runs !== runs || made.reused_runs !== 0)
    throw new Error(`a sweep of ${runs} runs made ${made.runs}, of which ${made.reused_runs} were old`)
  const nowMs = childrenMs()
  return {
    clockMs: performance.now() - startMs,
    processorMs: usedMs === null || nowMs === null ? null : nowMs - usedMs,
  }
}

/** Processor time of all ended child processes and their children, as Linux counts it. */
const childrenMs = (): number | null => {
  try {
    const [user, system] = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ').slice(13) ?? []
    return (Number(user) + Number(system)) * TICK_MS
  } catch {
    return null
  }
}

const TICK_MS = 10

/** Runs `svc` and returns its output. Fails if the command fails. */
const svc = async (home: string, words: readonly string[]): Promise<string> => {
  const child = spawn(process.execPath, [SVC, '--home', home, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  const [status] = (await once(child, 'close')) as [number | null]
  if (status !== 0) throw new Error(`svc ${words.join(' ')} ended with ${status}: ${printed}`)
  return printed
}
