import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Worker } from 'node:worker_threads'
import type { FeedBar } from '../../src/core/market/bar.ts'
import { median, medianRatio, type BenchRow } from '../harness.ts'
import { minutesOf } from './minutes.ts'
import { benchOwn } from './own.ts'
import { run, type SpeedPlan, type Speeds } from './speeds.ts'
import { benchSweep } from './sweep.ts'

const FIVE_YEARS = 2_628_000

/**
 * Bars per second of processor time of whole runs, with all that collects garbage and compiles beside them, on bars in
 * memory: what a feed takes to read its files is not in it. Each group in a thread of its own, since a user's process runs one
 * kind of strategy: code that another one ran before is compiled for both.
 */
export const benchBacktest = async (rounds: number, quick: boolean): Promise<readonly BenchRow[]> => {
  const bars = quick ? 100_000 : 300_000
  const inThread = (group: SpeedPlan['group']): Promise<Speeds> => measuredIn({ group, rounds, bars })
  const peer = await inThread('peer')
  const cross = await inThread('cross')
  const brain = await inThread('brain')
  const measured = { ...peer.measured, ...cross.measured, ...brain.measured }
  const of = (name: string): readonly number[] => measured[name] ?? []
  return [
    {
      id: 'cross',
      what: `bars/s, moving-average cross on every minute, ${bars} bars, ${cross.trades} trades`,
      value: median(of('cross')),
      target: '>= 300000 (100000)',
      baseline: 'plain figure of this machine',
    },
    {
      id: 'quarters',
      what: `bars/s, moving-average cross on quarters of an hour, ${bars} bars`,
      value: median(of('quarters')),
      target: '>= 300000 (100000)',
      baseline: 'plain figure of this machine',
    },
    {
      id: 'peer',
      what: `bars/s, long and short, with account, limits and stops; ${peer.trades} long trades are the same`,
      value: medianRatio(of('costless'), of('peer')),
      target: '>= 1',
      baseline: `grademark 0.3.0, long only (${median(of('peer')).toFixed(0)} bars/s)`,
    },
    {
      id: 'brain',
      what: `bars/s, the brain with all producers, a cycle every 15 of ${bars / 5} bars`,
      value: median(of('brain')),
      target: '>= 100000 (30000)',
      baseline: 'plain figure of this machine',
    },
    {
      id: 'cross-10',
      what: 'the cross on ten symbols, bars/s',
      value: medianRatio(of('crossTen'), of('cross')),
      target: '>= 0.7',
      baseline: 'on one symbol',
    },
    {
      id: 'brain-10',
      what: 'the brain on ten symbols, bars/s',
      value: medianRatio(of('brainTen'), of('brainShort')),
      target: '>= 0.7',
      baseline: 'on one symbol',
    },
    {
      id: 'linear',
      what: `the cross on ${bars} bars, bars/s`,
      value: medianRatio(of('cross'), of('crossShort')),
      target: '>= 0.9',
      baseline: `on ${bars / 10} bars`,
    },
    {
      id: 'events',
      what: 'the cross, bars/s',
      value: medianRatio(of('crossShort'), of('withEvents')),
      target: 'plain figure',
      baseline: 'with the events of all bars',
    },
    await memory(quick ? FIVE_YEARS / 10 : FIVE_YEARS),
    ...(await benchOwn(quick ? 1 : 3, quick)),
    ...(await benchSweep(quick ? 1 : 3, quick)),
  ]
}

/** The same process, so that all its threads are counted: the others wait. */
const measuredIn = async (plan: SpeedPlan): Promise<Speeds> => {
  const thread = new Worker(new URL('speed-thread.ts', import.meta.url), { workerData: plan })
  const [speeds] = (await once(thread, 'message')) as [Speeds]
  await thread.terminate()
  return speeds
}

/** The bars are made on the way, so that only the run itself is in memory. */
const memory = async (bars: number): Promise<BenchRow> => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heapMb = (): number => {
    collect()
    return process.memoryUsage().heapUsed / 2 ** 20
  }
  const heaps: number[] = []
  function* watched(): Generator<readonly FeedBar[]> {
    let index = 0
    for (const minute of minutesOf(['BTC'], bars)) {
      index += 1
      if (index % Math.floor(bars / 10) === 0) heaps.push(heapMb())
      yield minute
    }
  }
  // So little that the account stays of a usual size: the waves are kind to the rule, and five years compound.
  await run('ma_crossover', { [Symbol.iterator]: watched }, { risk: { max_position_pct: 0.002 } })
  const [early = Number.NaN, late = Number.NaN] = [heaps[0], heaps.at(-1)]
  return {
    id: 'memory',
    what: `heap after ${bars} minutes (${late.toFixed(0)} MB)`,
    value: late / early,
    target: '<= 1.5',
    baseline: `after a tenth of them (${early.toFixed(0)} MB)`,
  }
}
