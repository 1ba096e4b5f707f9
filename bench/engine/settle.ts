import { type Timestamp, nodeId, timestampOf } from '../../src/core/shared/brand.ts'
import type { Command } from '../../src/core/decide.ts'
import { DEFAULT_CONFIGURATION } from '../../src/core/config/validate.ts'
import type { Stamped } from '../../src/core/log/event.ts'
import type { FeedBar } from '../../src/core/market/bar.ts'
import { barAt } from '../../src/core/market/bars.fixture.ts'
import { run } from '../../src/core/run.ts'
import { encodedParts } from '../../src/core/state-codec.ts'
import { evolve, INITIAL_STATE, type State } from '../../src/core/state.ts'
import { scoringIn, viewLeaderboard } from '../../src/core/views/reputation.ts'
import type { JsonObject } from '../../src/core/shared/json.ts'
import { DAY_MS, timestampAt } from '../../src/core/shared/time.ts'
import { sha256Hex } from '../../src/engine/sha256.ts'
import { interleave, median, medianRatio, type BenchRow } from '../harness.ts'

const CONTRIBUTORS = 10_000
/** Long enough that a tenth of it exceeds every window: state that remains then is kept for good. */
const HISTORY_DAYS = 1000
const WARM_UPS = 10
const BEGIN_MS = Date.UTC(2026, 0, 1)
const CALLS_AT_ONCE = 1000
const CLOSES = 10_000
const MINUTE_MS = 60_000

/** Settling, scoring, ranking and learning, after a tenth of a long history and after all of it. */
export const benchSettle = async (calls: number, rounds: number): Promise<readonly BenchRow[]> => {
  const begin = process.cpuUsage()
  const { tenth, whole } = historyOf(calls)
  const preparation = process.cpuUsage(begin)
  const usPerCall = (preparation.user + preparation.system) / calls
  for (let count = 0; count < WARM_UPS; count += 1) leaderboardMs(whole)
  for (const state of [tenth, whole]) settleMs(state)
  const measured = await interleave(rounds, {
    settleTenth: () => settleMs(tenth),
    settleWhole: () => settleMs(whole),
    leaderboard: () => leaderboardMs(whole),
    learning: () => learningMs(whole),
  })
  const [textTenth, textWhole] = [textLengthOf(tenth), textLengthOf(whole)]
  const early = calls / 10
  return [
    {
      id: 'settle',
      what: `time to settle ${CALLS_AT_ONCE} due calls after ${calls} resolved ones`,
      value: medianRatio(measured.settleWhole, measured.settleTenth),
      target: '<= 1.2',
      baseline: `after ${early} (${median(measured.settleTenth).toFixed(1)} ms)`,
    },
    {
      id: 'leaderboard',
      what: `ms for the best 20 of ${CONTRIBUTORS} contributors`,
      value: median(measured.leaderboard),
      target: '< 20',
      baseline: 'plain figure of this machine, processor time',
    },
    {
      id: 'learning',
      what: `ms of a learning run over ${CLOSES} closes`,
      value: median(measured.learning),
      target: '< 2000',
      baseline: 'plain figure of this machine, processor time',
    },
    {
      id: 'settled-memory',
      what: `folded state after ${calls} resolved calls, as text (${(textWhole / 2 ** 20).toFixed(1)} MiB)`,
      value: textWhole / textTenth,
      target: '<= 1.1',
      baseline: `after ${early}`,
    },
    {
      id: 'settled-fold',
      what: 'us to fold one call and its outcome',
      value: usPerCall,
      target: '< 120',
      baseline: 'plain figure of this machine, processor time',
    },
  ]
}

interface History {
  readonly tenth: State
  readonly whole: State
}

/** All authors register, trades are made, and then the authors make calls in turn, which are judged at once. */
const historyOf = (calls: number): History => {
  let state = INITIAL_STATE
  let tenth = state
  const add = (type: string, source: string, payload: JsonObject, ts: string): void => {
    const seq = state.seq + 1
    const event: Stamped = {
      seq,
      id: `e${seq}`,
      type,
      ts: timestampOf(ts),
      source,
      payload,
      recordedAt: timestampOf(ts),
      traceId: null,
      dedupeKey: null,
    }
    state = evolve(state, event)
  }
  const begin = isoOf(BEGIN_MS)
  for (let index = 0; index < CONTRIBUTORS; index += 1) {
    const payload = {
      contributor_id: `c${index}`,
      node_id: nodeOf(index),
      name: 'x',
      role: 'x',
      metadata: {},
    }
    add('contributor.registered.v1', 'api', payload, begin)
  }
  for (let close = 0; close < CLOSES; close += 1) {
    add('learning.outcome.v1', 'learning', outcomeAt(close), isoOf(END_MS - (CLOSES - close) * 60_000))
  }
  for (let call = 0; call < calls; call += 1) {
    const atMs = BEGIN_MS + Math.floor((call / calls) * HISTORY_DAYS * DAY_MS)
    const at = isoOf(atMs)
    const author = call % CONTRIBUTORS
    add('attribution.recorded.v1', nodeOf(author), recordedAt(call, author, at), at)
    add('attribution.resolved.v1', 'settlement', resolvedAt(call, author, at), at)
    if (call === calls / 10) tenth = state
    // Cycles remove old state.
    if (call % Math.ceil(calls / HISTORY_DAYS) === 0) add('brain.cycle.v1', 'brain', cycleAt(at), at)
  }
  return { tenth, whole: state }
}

const isoOf = (ms: number): Timestamp => timestampAt(ms)

/** Encoded in parts, since a single long text would occupy memory of its own. */
const textLengthOf = (state: State): number => {
  let length = 0
  for (const part of encodedParts(state)) length += part.length
  return length
}

const cycleAt = (at: string): JsonObject => ({
  cycle_id: `cycle-${at}`,
  started_at: at,
  stale_cycles: 0,
  signals_used: {},
  weights_version: 0,
})

const END_MS = BEGIN_MS + HISTORY_DAYS * DAY_MS

const nodeOf = (index: number): string => `node-${index}`

const directionOf = (call: number): string => (call % 3 === 0 ? 'bearish' : 'bullish')

/** Authors make calls on different symbols at the same time, so that no overlaps are measured. */
const symbolOf = (call: number): string => `S${call % 50}`

const callOf = (call: number, author: number, at: string): JsonObject => ({
  call_id: `call-${call}`,
  symbol: symbolOf(call),
  direction: directionOf(call),
  probability: 0.7,
  horizon: '24h',
  due_at: at,
  ref_price: 100,
  contributor_id: `c${author}`,
  producer_id: nodeOf(author),
})

const recordedAt = (call: number, author: number, at: string): JsonObject => ({
  ...callOf(call, author, at),
  signal_id: `s-${call}`,
  node_id: nodeOf(author),
  received_at: at,
  score: 4,
  ref_sigma: 0.01,
})

const resolvedAt = (call: number, author: number, at: string): JsonObject => ({
  ...callOf(call, author, at),
  signal_ids: [`s-${call}`],
  resolved_by: 'horizon',
  position_id: null,
  exit_price: 101,
  return_pct: 0.01,
  band_pct: 0.0025,
  hit: (call * 7919) % 10 < 5,
  base_rate: 0.4,
  void_reason: null,
  opened_at: at,
})

const outcomeAt = (close: number): JsonObject => {
  const value = ((close * 7919) % 100) / 100
  return {
    position_id: `p${close}`,
    conviction_id: 'c',
    direction: close % 2 === 0 ? 'long' : 'short',
    realized_pnl: close % 3 === 0 ? 1 : -1,
    net_return: 0.001,
    direction_correct: true,
    time_held_hours: 1,
    max_drawdown_pct: 0,
    regime_at_entry: 'BULL',
    domain_scores_at_entry: {
      curator: value,
      onchain: 1 - value,
      tradfi: value / 2,
      social: 0.4,
      events: value,
    },
    signal_ids: ['a', 'b'],
  }
}

const leaderboardMs = (state: State): number => {
  const { karma } = DEFAULT_CONFIGURATION
  return msOf(() =>
    viewLeaderboard(state.signals.contributors, scoringIn(state.reputation, state.recordedAt, karma), 20),
  )
}

const learningMs = (state: State): number =>
  msOf(() => done(state, { kind: 'run-learning', cause: { trigger: 'api' } }, END_MS))

/** A thousand authors make a call, and a day later one bar settles all of them. */
const settleMs = (before: State): number => {
  const nowMs = Math.ceil(Date.parse(before.recordedAt) / MINUTE_MS) * MINUTE_MS
  let state = done(before, observed(nowMs, 100), nowMs)
  for (let index = 0; index < CALLS_AT_ONCE; index += 1) state = done(state, opinionOf(index), nowMs)
  const dueMs = nowMs + DAY_MS
  const resolvedBefore = resolvedIn(state)
  let after = state
  const elapsed = msOf(() => {
    after = done(state, observed(dueMs, 103), dueMs)
  })
  if (resolvedIn(after) - resolvedBefore !== CALLS_AT_ONCE) throw new Error('not all calls were settled')
  return elapsed
}

const resolvedIn = ({ signals: { contributors } }: State): number =>
  contributors.byId.reduce((sum, { record }) => sum + record.resolved, 0)

const opinionOf = (index: number): Command => ({
  kind: 'submit-signal',
  submission: {
    eventType: 'signal.curator.v1',
    nodeId: nodeId(nodeOf(index)),
    ts: null,
    source: null,
    payload: { symbol: 'BTC', direction: 'bullish', conviction: 7 },
    dedupeKey: null,
  },
})

const observed = (closeMs: number, close: number): Command => ({
  kind: 'observe-bars',
  observation: { feed: 'file', bars: [minuteUntil(closeMs, close)] },
})

const minuteUntil = (closeMs: number, close: number): FeedBar => barAt(timestampAt(closeMs - 60_000), close)

let ids = 0

const done = (state: State, command: Command, nowMs: number): State => {
  const result = run(state, command, {
    now: timestampAt(nowMs),
    newId: () => `n-${(ids += 1)}`,
    traceId: null,
    configuration: DEFAULT_CONFIGURATION,
    version: 'bench',
    sha256Hex,
    nodeId: nodeId('bench'),
    sign: () => '',
    isSigned: () => false,
    elapsedMs: () => 0,
  })
  if (result.status === 'refused') throw new Error(result.refusal.detail)
  return result.state
}

/** Processor time, which excludes the load of other processes. */
const msOf = (work: () => unknown): number => {
  const begin = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(begin)
  return (user + system) / 1000
}
