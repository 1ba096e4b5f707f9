import { nodeId } from '../../src/core/shared/brand.ts'
import { timestampAt } from '../../src/core/shared/time.ts'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { DEFAULT_CONFIGURATION } from '../../src/core/config/validate.ts'
import type { Stamped } from '../../src/core/log/event.ts'
import { run } from '../../src/core/run.ts'
import { encodeState } from '../../src/core/state-codec.ts'
import { evolve, INITIAL_STATE, type State } from '../../src/core/state.ts'
import { sha256Hex } from '../../src/engine/sha256.ts'
import { interleave, median, medianRatio, type BenchRow } from '../harness.ts'

const BEGIN_MS = Date.UTC(2026, 0, 1)
const AUTHORS = 50

/** A cycle on a short and a long history and on a large universe, and the size of the final state. */
export const benchCycle = async (events: number, rounds: number): Promise<readonly BenchRow[]> => {
  const short = folded(100, 10_000)
  const long = folded(100, events)
  const large = folded(1000, 100_000)
  for (const state of [short, long, large]) cycleMs(state, 100)
  const measured = await interleave(rounds, {
    short: () => cycleMs(short, 100),
    long: () => cycleMs(long, 100),
    large: () => cycleMs(large, 1000),
  })
  return [
    {
      id: 'cycle',
      what: `time of a cycle, 100 symbols x ${AUTHORS} authors, after ${events} events`,
      value: medianRatio(measured.long, measured.short),
      target: '<= 1.2',
      baseline: `after 10000 events (${median(measured.short).toFixed(1)} ms)`,
    },
    {
      id: 'large',
      what: `ms of a cycle over 1000 symbols x ${AUTHORS} authors, decided and folded`,
      value: median(measured.large),
      target: '< 250',
      baseline: 'plain figure of this machine, one core',
    },
    {
      id: 'memory',
      what: `folded state after ${events} events, as text (${(encodeState(long).length / 2 ** 20).toFixed(1)} MiB)`,
      value: encodeState(long).length / encodeState(short).length,
      target: '<= 1.1',
      baseline: `after 10000 events; heap grew by ${await heapGrowthMb(events)} MB while folding`,
    },
  ]
}

const folded = (symbols: number, events: number): State => {
  let state = INITIAL_STATE
  for (let index = 0; index < events; index += 1) state = evolve(state, eventAt(index, symbols, events))
  return state
}

const TYPES = ['ta', 'social', 'onchain', 'tradfi', 'events'] as const

/** First the producers, then their signals in turn: each covers every symbol, until the last day. */
const eventAt = (index: number, symbols: number, events: number): Stamped => {
  const ts = timestampAt(BEGIN_MS + index * 10)
  const name = `author-${index % AUTHORS}`
  const base = { seq: index + 1, id: `e-${index}`, ts, recordedAt: ts, traceId: null, dedupeKey: null }
  if (index < AUTHORS) {
    const payload = { name, domain: 'onchain', endpoint: 'https://example.com', schedule: '0 * * * *' }
    return { ...base, type: 'producer.registered.v1', source: 'api', payload }
  }
  const symbol = `S${Math.floor(index / AUTHORS) % symbols}`
  const kind = TYPES[(index % AUTHORS) % TYPES.length] ?? 'ta'
  const value = ((index * 7919) % 200) / 10 - 10
  const payload = {
    symbol,
    rsi_14: 50 + value,
    score: value,
    price_momentum_24h: value,
    funding_annualized: 10 + value,
    headline_sentiment: value / 10,
    note: events,
  }
  return { ...base, type: `signal.${kind}.v1`, source: name, payload }
}

const cycleMs = (state: State, symbols: number): number => {
  let ids = 0
  const configuration = {
    ...DEFAULT_CONFIGURATION,
    universe: { max_size: symbols, symbols: Array.from({ length: symbols }, (_, index) => `S${index}`) },
  }
  const context = {
    now: state.recordedAt,
    newId: () => `n-${(ids += 1)}`,
    traceId: null,
    configuration,
    version: 'bench',
    sha256Hex,
    nodeId: nodeId('bench'),
    sign: () => '',
    isSigned: () => false,
    elapsedMs: () => 0,
  }
  const begin = performance.now()
  const result = run(state, { kind: 'run-cycle', cycleId: 'c', trigger: 'schedule' }, context)
  if (result.status !== 'accepted') throw new Error(result.refusal.detail)
  return performance.now() - begin
}

/** Growth of the heap over that of a short fold. */
const heapGrowthMb = async (events: number): Promise<string> => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const used = (): number => {
    collect()
    return process.memoryUsage().heapUsed / 2 ** 20
  }
  const before = used()
  const state = folded(100, events)
  const after = used()
  return `${(after - before).toFixed(1)} (${state.signals.latest.signals.size} latest signals)`
}
