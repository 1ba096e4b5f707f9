import type { Configuration } from '../config/schema.ts'
import { analysisBarsOf, type AnalysisBar } from '../market/evolve.ts'
import { isOpen, type ClosedPosition, type Positions } from '../trading/positions/positions.ts'
import { bandOf, type BaseRates, MOVE_OF, moveOf, moveRate, tradeRate } from './base-rates.ts'
import { type Call, type Calls, horizonQueue, isBound, PARTS_OF_HORIZON, symbolQueue } from './calls.ts'
import { accept, type Decision } from '../shared/decision.ts'
import type { CanonicalSymbol, PositionId, Timestamp } from '../shared/brand.ts'
import { priceNumber, priceNumberOrNull, ratioOf, returnOf, sumOf, type Price } from '../shared/money.ts'
import type { ReputationFacts } from './evolve.ts'
import type { NewEvent, PayloadOf } from '../events/catalogue.ts'
import { type Horizon, HORIZON_MS, HORIZONS, isFromFuture, msOf, timestampAt } from '../shared/time.ts'
import { r9 } from '../shared/numbers.ts'
import { LATE_MS_MAX } from '../signals/producer-runs.ts'
import { firstIn, waitingIn } from './due-queues.ts'

/** The calls that a bar decides. */
export const settleBar = (
  { reputation: { calls }, market }: Pick<ReputationFacts, 'reputation' | 'market'>,
  bar: DecidingBar,
  now: Timestamp,
  rules: Configuration['settlement'],
): Decision => {
  if (calls.open.size === 0) return accept()
  const due = dueWithBar(calls, bar, now)
  if (due.length === 0) return accept()
  return accept(...settledByBar(calls, bar, due, { ...rules, exitPriceOf: exitPrices(market, bar) }))
}

/** Bars that still have due calls, because one batch settles a limited number of calls. */
export const barsLeftOver = ({
  reputation: { calls },
  market,
}: Pick<ReputationFacts, 'reputation' | 'market'>): readonly DecidingBar[] =>
  calls.open.size === 0
    ? []
    : [...market.symbols].flatMap(([symbol, { last }]) => {
        const { close, close_ts: closeTs } = last
        return !last.backfill && isAnyLeft(calls, { symbol, closeTs }) ? [{ symbol, close, closeTs }] : []
      })

/** Voids the calls that no bar has decided in time. */
export const settleOverdue = (calls: Calls, now: Timestamp, rules: Configuration['settlement']): Decision =>
  accept(...settledByTime(calls, now, rules))

/** A position closed: settles each call whose positions are now all closed, by their summed result. */
export const settlePosition = (
  calls: Calls,
  positionId: PositionId,
  positions: Positions,
  { settlement, execution }: Configuration,
): Decision => {
  if (!calls.ofPosition.has(positionId)) return accept()
  const rules = {
    prior: settlement.prior,
    band_min: settlement.band_min,
    stopPct: execution.stop_loss_pct,
    targetPct: execution.take_profit_pct,
  }
  const bound = (calls.ofPosition.get(positionId) ?? []).flatMap((id) => calls.open.get(id) ?? [])
  return accept(
    ...bound.flatMap((call) => {
      const result = resultOf(positions, call, positionId)
      return result === null ? [] : [settledByTrade(calls, call, result, rules)]
    }),
  )
}

/** Returns null while a position of the call is open. */
const resultOf = (positions: Positions, call: Call, closedId: PositionId): TradeResult | null => {
  const bound = call.positionIds.flatMap((id) => positions.get(id) ?? [])
  const closed = bound.filter((position): position is ClosedPosition => !isOpen(position))
  const last = closed.find(({ id }) => id === closedId)
  if (last === undefined || closed.length < bound.length) return null
  const net = sumOf(closed.map(({ end }) => end.realized))
  const entered = sumOf(closed.map(({ holding }) => holding.notional))
  return {
    positionId: closedId,
    exitPrice: last.end.exitPrice,
    netReturn: entered === 0n ? 0 : ratioOf(net, entered),
    isProfit: net > 0n,
  }
}

interface SettlementRules {
  readonly grace_seconds: number
  readonly band_min: number
  readonly band_sigma: number
  readonly prior: number
}

/** Limit per batch, so that other commands do not wait. The rest follows in further batches. */
export const SETTLED_AT_ONCE_MAX = 1000

export interface DecidingBar {
  readonly symbol: CanonicalSymbol
  readonly close: Price
  readonly closeTs: Timestamp
  /**
   * Base rates before the bar, if an earlier batch settled some of its calls: all calls of a bar use the same rates.
   */
  readonly rates?: BaseRates
}

/**
 * The median of the closes in the last part of a horizon. A short manipulation of the price around the due time has no
 * effect on it.
 */
const exitPrices = (
  market: ReputationFacts['market'],
  { symbol, close, closeTs }: Pick<DecidingBar, 'symbol' | 'close' | 'closeTs'>,
): ((horizon: Horizon) => Price) => {
  const endMs = msOf(closeTs)
  const lengthMs = market.rules.barSeconds * 1000
  const known = market.symbols.get(symbol)
  const bars = known === undefined ? [] : analysisBarsOf(known.analysis)
  const medianFor = (horizon: Horizon): Price => {
    const beginMs = endMs - HORIZON_MS[horizon] / PARTS_OF_HORIZON
    const sorted = [close]
    // Starts with the newest bar, since most bars closed long before.
    for (let index = bars.length - 1; index >= 0; index -= 1) {
      const bar = bars[index] as AnalysisBar
      if (bar.openMs + lengthMs <= beginMs) break
      if (bar.openMs + lengthMs < endMs) sorted.push(bar.close)
    }
    sorted.sort((one, other) => (one < other ? -1 : 1))
    // For an even number of closes, the middle one nearer to the deciding close, so that every judged price was a real
    // one.
    const [lower, upper] = [sorted[(sorted.length - 1) >> 1] ?? close, sorted[sorted.length >> 1] ?? close]
    return close >= upper ? upper : lower
  }
  // Cached, since many calls of one horizon may be due with one bar.
  const medians = new Map<Horizon, Price>()
  return (horizon) => {
    const median = medians.get(horizon) ?? medianFor(horizon)
    medians.set(horizon, median)
    return median
  }
}

/** The calls that a bar settles, oldest first in each horizon. */
const dueWithBar = (calls: Calls, { symbol, closeTs }: DecidingBar, now: Timestamp): readonly Call[] => {
  const nowMs = msOf(now)
  const isDue = (call: Call): boolean => call.dueAt <= closeTs || isOpenedByWrongClock(call, nowMs)
  const lastDueAt = outOfOrderAfter(closeTs)
  const due: Call[] = []
  for (const horizon of HORIZONS) {
    for (const call of dueIn(calls, symbolQueue(horizon, symbol), isDue, lastDueAt)) due.push(call)
  }
  return due.length > SETTLED_AT_ONCE_MAX ? due.slice(0, SETTLED_AT_ONCE_MAX) : due
}

const settledByBar = (
  calls: Calls,
  { closeTs, rates = calls.rates }: DecidingBar,
  due: readonly Call[],
  rules: SettlementRules & { readonly exitPriceOf: (horizon: Horizon) => Price },
): readonly NewEvent[] => {
  const tooLateMs = msOf(closeTs) - rules.grace_seconds * 1000
  return due.map((call) => {
    const { refPrice, dueAt, horizon } = call
    if (refPrice === null) return settledByMove(call, unknownMove('no_price'))
    if (dueAt > closeTs || msOf(dueAt) < tooLateMs) return settledByMove(call, unknownMove('no_bar'))
    return settledByMove(
      call,
      priceMoveOf(rates, call, { refPrice, exitPrice: rules.exitPriceOf(horizon) }, rules),
    )
  })
}

/**
 * True for a call from a wrong clock, which would be due long after its horizon. It is void at once: all calls behind
 * it in its queues would wait for it, and its price is not that of the stated time.
 */
const isOpenedByWrongClock = ({ dueAt, horizon }: Call, nowMs: number): boolean =>
  isFromFuture(msOf(dueAt), nowMs + HORIZON_MS[horizon])

/** Whether due calls remain after settling a bar. */
const isAnyLeft = (calls: Calls, { symbol, closeTs }: Pick<DecidingBar, 'symbol' | 'closeTs'>): boolean =>
  HORIZONS.some(
    (horizon) =>
      dueIn(calls, symbolQueue(horizon, symbol), ({ dueAt }) => dueAt <= closeTs, outOfOrderAfter(closeTs), 1)
        .length > 0,
  )

const settledByTime = (calls: Calls, now: Timestamp, rules: SettlementRules): readonly NewEvent[] => {
  const isOver = overdueAt(now, rules)
  return HORIZONS.flatMap((horizon) => dueIn(calls, horizonQueue(horizon), isOver))
    .slice(0, SETTLED_AT_ONCE_MAX)
    .map((call) => settledByMove(call, unknownMove(call.refPrice === null ? 'no_price' : 'no_bar')))
}

/** Whether `settle-overdue` would settle anything. */
export const isAnyOverdue = (
  calls: Calls,
  now: Timestamp,
  rules: Pick<SettlementRules, 'grace_seconds'>,
): boolean => {
  if (calls.open.size === 0) return false
  const isOver = overdueAt(now, rules)
  return HORIZONS.some((horizon) => {
    const first = firstIn(calls.due, horizonQueue(horizon))
    const call = first === null ? undefined : calls.open.get(first)
    return call !== undefined && isOver(call)
  })
}

const overdueAt = (
  now: Timestamp,
  { grace_seconds }: Pick<SettlementRules, 'grace_seconds'>,
): ((call: Call) => boolean) => {
  const nowMs = msOf(now)
  const latestMs = nowMs - grace_seconds * 1000
  return (call) => msOf(call.dueAt) < latestMs || isOpenedByWrongClock(call, nowMs)
}

/** The result of all trades on a call. */
interface TradeResult {
  readonly positionId: PositionId
  readonly exitPrice: Price
  /** Net profit divided by the entry notional. */
  readonly netReturn: number
  readonly isProfit: boolean
}

interface TradeRules {
  readonly prior: number
  readonly band_min: number
  readonly stopPct: number
  readonly targetPct: number
}

const settledByTrade = (
  calls: Calls,
  call: Call,
  { positionId, exitPrice, netReturn, isProfit }: TradeResult,
  { prior, band_min, stopPct, targetPct }: TradeRules,
): NewEvent =>
  resolvedEvent(call, {
    resolved_by: 'trade',
    position_id: positionId,
    exit_price: priceNumber(exitPrice),
    return_pct: r9(netReturn),
    band_pct: r9(band_min),
    hit: isProfit,
    base_rate: r9(tradeRate(calls.rates, { prior, stopPct, targetPct })),
    void_reason: null,
  })

/** Price move of a call by its due time. */
type PriceMove = Pick<
  PayloadOf<'attribution.measured.v1'>,
  'exit_price' | 'return_pct' | 'band_pct' | 'hit' | 'base_rate' | 'void_reason'
>

const priceMoveOf = (
  rates: BaseRates,
  call: Call,
  { refPrice, exitPrice }: { readonly refPrice: Price; readonly exitPrice: Price },
  rules: SettlementRules,
): PriceMove => {
  const moved = r9(returnOf(refPrice, exitPrice))
  const band = r9(bandOf(call.refSigma, rules))
  const expected = MOVE_OF[call.direction]
  return {
    exit_price: priceNumber(exitPrice),
    return_pct: moved,
    band_pct: band,
    hit: moveOf(moved, band) === expected,
    base_rate: r9(moveRate(rates, call.horizon, expected, rules.prior)),
    void_reason: null,
  }
}

const unknownMove = (reason: 'no_price' | 'no_bar'): PriceMove => ({
  exit_price: null,
  return_pct: null,
  band_pct: null,
  hit: null,
  base_rate: null,
  void_reason: reason,
})

/** The price move settles a call that was not traded on. For a traded call it is only recorded. */
const settledByMove = (call: Call, move: PriceMove): NewEvent =>
  isBound(call)
    ? measuredEvent(call, move)
    : resolvedEvent(call, { resolved_by: 'horizon', position_id: null, ...move })

const measuredEvent = (call: Call, move: PriceMove): NewEvent => ({
  type: 'attribution.measured.v1',
  source: 'learning',
  payload: {
    ...move,
    call_id: call.id,
    producer_id: call.producerId,
    contributor_id: call.contributorId,
    symbol: call.symbol,
    direction: call.direction,
    horizon: call.horizon,
    due_at: call.dueAt,
    ref_price: priceNumberOrNull(call.refPrice),
  },
})

type CallResolution = PriceMove & Pick<PayloadOf<'attribution.resolved.v1'>, 'resolved_by' | 'position_id'>

const resolvedEvent = (call: Call, resolution: CallResolution): NewEvent => ({
  type: 'attribution.resolved.v1',
  source: 'learning',
  // Spelled out, because spreading an object takes several times as long.
  payload: {
    resolved_by: resolution.resolved_by,
    position_id: resolution.position_id,
    exit_price: resolution.exit_price,
    return_pct: resolution.return_pct,
    band_pct: resolution.band_pct,
    hit: resolution.hit,
    base_rate: resolution.base_rate,
    void_reason: resolution.void_reason,
    call_id: call.id,
    signal_ids: [...call.signalIds],
    producer_id: call.producerId,
    contributor_id: call.contributorId,
    symbol: call.symbol,
    direction: call.direction,
    ref_price: priceNumberOrNull(call.refPrice),
    horizon: call.horizon,
    opened_at: call.openedAt,
    due_at: call.dueAt,
    probability: call.probability,
  },
})

const NONE: readonly Call[] = []

/** Due calls from the front of a queue. Later entries are due later, except for those up to `lastDueAt`. */
const dueIn = (
  calls: Calls,
  queue: string,
  isDue: (call: Call) => boolean,
  lastDueAt: Timestamp | null = null,
  wantedMax = SETTLED_AT_ONCE_MAX,
): readonly Call[] => {
  if (firstIn(calls.due, queue) === null) return NONE
  const due: Call[] = []
  for (const id of waitingIn(calls.due, queue)) {
    const call = calls.open.get(id)
    if (call === undefined || due.length === wantedMax) break
    if (isDue(call)) due.push(call)
    else if (lastDueAt === null || call.dueAt > lastDueAt) break
  }
  return due
}

/**
 * A producer that reads bars submits up to a minute after their close, as of the close. Other authors may have called
 * in between.
 */
const outOfOrderAfter = (closeTs: Timestamp): Timestamp => timestampAt(msOf(closeTs) + LATE_MS_MAX)
