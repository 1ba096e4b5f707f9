import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, medianRatio, type BenchRow } from '../harness.ts'
import { measuredSvc, SERIES, storeMinutes, type Measured } from './commands.ts'

/** The rule of `ma_crossover`, in a file of the user. */
const CROSS = `import { defineStrategy, z } from 'signal-engine/strategy'

const meanOfLast = (closes: readonly number[], count: number): number => {
  let sum = 0
  for (let index = closes.length - count; index < closes.length; index += 1) sum += closes[index] ?? 0
  return sum / count
}

export default defineStrategy({
  name: 'cross',
  parameters: z.object({ fast: z.int().min(1).default(10), slow: z.int().min(2).default(50) }),
  warmUpBars: ({ slow }) => slow,
  create: ({ fast, slow }) => {
    let closes: number[] = []
    return {
      onBar: ({ bar }) => {
        closes.push(bar.close)
        if (closes.length > 2 * slow) closes = closes.slice(-slow)
        if (closes.length < slow) return null
        const [quick, calm] = [meanOfLast(closes, fast), meanOfLast(closes, slow)]
        return quick === calm ? null : { side: quick > calm ? 'long' : 'short' }
      },
    }
  },
})
`

const NOTHING = `import { defineStrategy, z } from 'signal-engine/strategy'

export default defineStrategy({
  name: 'nothing', parameters: z.object({}), warmUpBars: 0, create: () => ({ onBar: () => null }),
})
`

const SHORT_BARS = 100_000
const LONG_BARS = 1_000_000
const SWEEP_BARS = 6000

/**
 * `svc backtest` with a strategy of the user and with the built-in rule, from Parquet files, from start to end: bars per
 * second of processor time, and memory. Both make the same trades.
 */
export const benchOwn = async (rounds: number, quick: boolean): Promise<readonly BenchRow[]> => {
  const home = mkdtempSync(join(tmpdir(), 'signal-engine-own-'))
  try {
    mkdirSync(join(home, 'strategies'), { mode: 0o700 })
    writeFileSync(join(home, 'strategies', 'cross.ts'), CROSS)
    writeFileSync(join(home, 'strategies', 'nothing.ts'), NOTHING)
    await storeMinutes(home, quick ? SHORT_BARS : LONG_BARS)
    const rows = [...(await compare(home, SHORT_BARS, rounds))]
    if (!quick) rows.push(...(await compare(home, LONG_BARS, rounds)))
    return [...rows, await sweepRow(home)]
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

const compare = async (home: string, bars: number, rounds: number): Promise<readonly BenchRow[]> => {
  const names = ['nothing', 'cross', 'ma_crossover'] as const
  const runs = { nothing: [], cross: [], ma_crossover: [] } as Record<(typeof names)[number], Measured[]>
  for (let round = 0; round < rounds; round += 1)
    for (const name of names) runs[name].push(await measuredRun(home, name, bars))
  const [own, builtIn] = [runs.cross.map(tradesOf), runs.ma_crossover.map(tradesOf)]
  if (own[0] !== builtIn[0])
    throw new Error(`${own[0]} trades of the file, ${builtIn[0]} of the built-in rule`)
  const speeds = (name: (typeof names)[number]) =>
    runs[name].map(({ processorMs, clockMs }) => (bars * 1000) / (processorMs ?? clockMs))
  const memories = runs.cross.flatMap(({ memoryMb }) => memoryMb ?? [])
  return [
    {
      id: `own-null-${bars / 1000}k`,
      what: `bars/s of svc backtest, a strategy in a file that answers null, ${bars} bars`,
      value: median(speeds('nothing')),
      target: '>= 300000',
      baseline: 'plain figure of this machine',
    },
    {
      id: `own-${bars / 1000}k`,
      what: `bars/s of svc backtest, moving-average cross in a file, ${bars} bars, ${own[0]} trades`,
      value: median(speeds('cross')),
      target: '>= 300000',
      baseline: 'plain figure of this machine',
    },
    {
      id: `own-built-in-${bars / 1000}k`,
      what: 'the same',
      value: medianRatio(speeds('cross'), speeds('ma_crossover')),
      target: '>= 1 but for the start of a process',
      baseline: `the built-in rule (${median(speeds('ma_crossover')).toFixed(0)} bars/s)`,
    },
    ...(memories.length === 0
      ? []
      : [
          {
            id: `own-memory-${bars / 1000}k`,
            what: `peak MB of svc backtest and its process, ${bars} bars`,
            value: median(memories),
            target: '<= 300',
            baseline: 'plain figure of this machine',
          },
        ]),
  ]
}

/** Every minute is an analysis bar. The kill switch is lowered each day, so that there are trades all the time. */
const measuredRun = (home: string, name: string, bars: number): Promise<Measured> =>
  measuredSvc(home, ['backtest', name, '--data', SERIES, '--to', endOf(bars), '--json'], MINUTES)

const MINUTES = { SVC_TA__BAR_SECONDS: '60' }

const endOf = (bars: number): string => new Date(Date.UTC(2021, 0, 1) + bars * 60_000).toISOString()

const tradesOf = ({ printed }: Measured): number =>
  (JSON.parse(printed) as { readonly trades: number }).trades

const sweepRow = async (home: string): Promise<BenchRow> => {
  const words = ['sweep', 'cross', '--set', 'fast=2..21', '--set', 'slow=30..75:5', '--data', SERIES]
  const options = ['--to', endOf(SWEEP_BARS), '--workers', '2', '--fresh', '--json']
  const { clockMs, processorMs } = await measuredSvc(home, [...words, ...options], MINUTES)
  return {
    id: 'own-sweep',
    what: `seconds of svc sweep, 200 runs of ${SWEEP_BARS} bars of a strategy in a file, two processes`,
    value: clockMs / 1000,
    target: '<= 15 on two idle cores',
    baseline: `${((processorMs ?? 0) / 1000).toFixed(1)} s of processor time`,
  }
}
