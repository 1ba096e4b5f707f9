import { canonicalSymbol } from '../../src/core/shared/symbol.ts'
import { timestampAt } from '../../src/core/shared/time.ts'
import { timestampOf, nodeId, intentId } from '../../src/core/shared/brand.ts'
import { priceFrom } from '../../src/core/shared/money.ts'
import type { Command } from '../../src/core/decide.ts'
import type { NewPayload } from '../../src/core/events/catalogue.ts'
import { run } from '../../src/core/run.ts'
import { encodeState } from '../../src/core/state-codec.ts'
import { evolve, INITIAL_STATE, type State } from '../../src/core/state.ts'
import type { JsonObject } from '../../src/core/shared/json.ts'
import { sha256Hex } from '../../src/engine/sha256.ts'
import { interleave, median, medianRatio, type BenchRow } from '../harness.ts'
import { ENTRY_PRICE, minuteOf, UNSHAKEN } from './holdings.ts'

const FEW_TRADES = 1000
/** Number of trades after which every bounded collection is full. */
const FULL_TRADES = 20_000
/** Enough trades to include each of the periodic clean-ups. */
const MEASURED_TRADES = 3000
const TRADES_PER_MINUTE = 60
const BEGIN_MS = Date.UTC(2026, 0, 1)
const MINUTE_MS = 60_000
const STOP_PCT = 0.05
const TARGET_PCT = 0.06

/** Cost of an entry and its exit in time and memory, after a very long history. */
export const benchClosedHistory = async (trades: number, rounds: number): Promise<readonly BenchRow[]> => {
  const few = traded(INITIAL_STATE, 0, FEW_TRADES)
  const full = traded(few, FEW_TRADES, FULL_TRADES)
  const count = Math.max(trades, 2 * FULL_TRADES)
  const long = traded(full, FULL_TRADES, count)
  tradesMs(few, FEW_TRADES)
  tradesMs(long, count)
  const measured = await interleave(rounds, {
    few: () => tradesMs(few, FEW_TRADES),
    long: () => tradesMs(long, count),
  })
  const [textFull, textLong] = [encodeState(full).length, encodeState(long).length]
  const eachUs = (median(measured.few) * 1000) / MEASURED_TRADES
  return [
    {
      id: 'closed',
      what: `time of an entry and its exit after ${count} closed positions`,
      value: medianRatio(measured.long, measured.few),
      target: '<= 1.2',
      baseline: `after ${FEW_TRADES} (${eachUs.toFixed(0)} µs, processor time)`,
    },
    {
      id: 'closed-memory',
      what: `folded state after ${count} closed positions, as text (${(textLong / 2 ** 20).toFixed(1)} MiB)`,
      value: textLong / textFull,
      target: '<= 1.1',
      baseline: `after ${FULL_TRADES}`,
    },
  ]
}

const tradesMs = (state: State, first: number): number => {
  const began = process.cpuUsage()
  traded(state, first, first + MEASURED_TRADES)
  const { user, system } = process.cpuUsage(began)
  return (user + system) / 1000
}

/** Trades one after the other, each closed before the next opens. Every second one is closed at its stop. */
const traded = (before: State, first: number, end: number): State => {
  let state = before
  for (let trade = first; trade < end; trade += 1) {
    const nowMs = BEGIN_MS + (trade / TRADES_PER_MINUTE) * MINUTE_MS
    const now = timestampAt(nowMs)
    if (trade % TRADES_PER_MINUTE === 0) {
      const bars = [minuteOf('BTC', ENTRY_PRICE, nowMs - MINUTE_MS)]
      state = done(state, { kind: 'observe-bars', observation: { feed: 'bench', bars } }, now, trade)
      state = folded(state, 'brain.cycle.v1', CYCLE, now, `cycle-${trade}`)
    }
    const id = nameOf('intent', trade)
    state = folded(state, 'execution.trade_intent.v1', intentAt(nowMs), now, id)
    state = done(state, { kind: 'execute-intent', intentId: intentId(id) }, now, trade)
    const price = ENTRY_PRICE * (trade % 2 === 0 ? 1 - STOP_PCT - 0.01 : 1 + TARGET_PCT + 0.01)
    const tick = {
      symbol: canonicalSymbol('BTC'),
      price: priceFrom(price),
      ts: timestampOf(now),
      confirms: null,
    }
    state = done(state, { kind: 'observe-tick', tick }, now, trade)
    if (state.trading.book.count > 0) throw new Error('the position is still open')
  }
  return state
}

const nameOf = (kind: string, count: number): string => `${kind}-${String(count).padStart(9, '0')}`

const done = (state: State, command: Command, now: string, trade: number): State => {
  let ids = 0
  const result = run(state, command, {
    now: timestampOf(now),
    newId: () => nameOf(`${command.kind}-${trade}`, (ids += 1)),
    traceId: null,
    configuration: UNSHAKEN,
    version: 'bench',
    sha256Hex,
    nodeId: nodeId('bench'),
    sign: () => '',
    isSigned: () => false,
    elapsedMs: () => 0,
  })
  if (result.status !== 'accepted') throw new Error(result.refusal.detail)
  if (result.events.some(({ type }) => type === 'execution.order_failed.v1'))
    throw new Error(`an entry failed: ${JSON.stringify(result.events.map(({ payload }) => payload))}`)
  return result.state
}

const folded = (state: State, type: string, payload: object, now: string, id: string): State =>
  evolve(state, {
    seq: state.seq + 1,
    id,
    type,
    ts: timestampOf(now),
    source: 'brain',
    payload: payload as JsonObject,
    recordedAt: timestampOf(now),
    traceId: null,
    dedupeKey: null,
  })

const intentAt = (nowMs: number): NewPayload<'execution.trade_intent.v1'> => ({
  cycle_id: 'cycle',
  symbol: 'BTC',
  direction: 'long',
  size_pct: 0.01,
  leverage: 1,
  conviction_score: 80,
  regime: 'BULL',
  rationale: 'bench',
  stop_loss_pct: STOP_PCT,
  take_profit_pct: TARGET_PCT,
  valid_until: timestampAt(nowMs + 5 * MINUTE_MS),
  conviction_id: 'conviction',
  signal_ids: ['s1'],
  attribution: [{ signal_id: 's1', weight: 1 }],
  intended_price: null,
  approval_required: false,
  status: 'ready',
  pcs_score: 80,
  cts_score: 5,
})

/** A cycle, before which all consequences of a close are processed. */
const CYCLE: NewPayload<'brain.cycle.v1'> = {
  cycle_id: 'cycle',
  trigger: 'schedule',
  started_at: timestampAt(BEGIN_MS),
  symbols: ['BTC'],
  regime: 'BULL',
  kill_switch_level: 0,
  weights: {},
  data_quality: {},
  signals_used: {},
  intents: 1,
  duration_ms: 1,
  weights_version: 0,
  config_hash: '',
  engine_version: 'bench',
  stale_cycles: 0,
  warnings: [],
}
