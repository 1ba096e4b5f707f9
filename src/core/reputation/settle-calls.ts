import type { Configuration } from '../config/schema.ts'
import { isOpen, type Position, type Positions } from '../trading/positions.ts'
import { bandOf, type BaseRates, MOVE_OF, moveOf, moveRate, tradeRate } from './base-rates.ts'
import { type Call, type Calls, horizonQueue, isBound, symbolQueue } from './calls.ts'
import { accept, type Decision } from '../shared/decision.ts'
import { ratioOf } from '../shared/money.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import type { ReputationFacts } from './evolve.ts'
import type { NewEvent, PayloadOf } from '../events/catalogue.ts'
import { HORIZONS } from '../shared/horizon.ts'
import { r9 } from '../shared/numbers.ts'
import { waitingIn } from './due-queues.ts'

export type ClosedBar = DecidingBar

/** The calls that a bar decides. */
export const settleBar = (calls: Calls, bar: ClosedBar, rules: Configuration['settlement']): Decision => {
  const symbol = canonicalSymbol(bar.symbol)
  return accept(...settledByBar(calls, { ...bar, symbol }, rules))
}

/** Bars that decide more calls than were judged at once with them. */
export const barsLeftOver = ({
  reputation: { calls },
  market,
}: Pick<ReputationFacts, 'reputation' | 'market'>): readonly ClosedBar[] =>
  calls.open.size === 0
    ? []
    : [...market.symbols].flatMap(([symbol, { last }]) => {
        const { close, close_ts: closeTs } = last
        return !last.backfill && isAnyLeft(calls, { symbol, closeTs }) ? [{ symbol, close, closeTs }] : []
      })

/** The calls that no bar will decide any more. */
export const settleOverdue = (calls: Calls, now: string, rules: Configuration['settlement']): Decision =>
  accept(...settledByTime(calls, now, rules))

/** A position closed: calls of which it was the last are decided by what all their positions made. */
export const settlePosition = (
  calls: Calls,
  positionId: string,
  positions: Positions,
  { settlement, execution }: Configuration,
): Decision => {
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

/** Null as long as one of them is open. */
const resultOf = (positions: Positions, call: Call, positionId: string): TradeResult | null => {
  const bound = call.positionIds.flatMap((id) => positions.get(id) ?? [])
  const last = positions.get(positionId)?.end
  if (last === undefined || last === null || bound.some(isOpen)) return null
  const net = sumOf(bound, ({ end }) => end?.realized ?? 0n)
  const entered = sumOf(bound, ({ holding }) => holding.notional)
  return {
    positionId,
    exitPrice: last.exitPrice,
    netReturn: entered === 0n ? 0 : ratioOf(net, entered),
    isProfit: net > 0n,
  }
}

const sumOf = (positions: readonly Position[], amountOf: (position: Position) => bigint): bigint =>
  positions.reduce((sum, position) => sum + amountOf(position), 0n)

interface SettlementRules {
  readonly grace_seconds: number
  readonly band_min: number
  readonly band_sigma: number
  readonly prior: number
}

/** So many calls are judged at once, lest others wait; the rest follow in batches of their own. */
export const SETTLED_AT_ONCE_MAX = 1000

interface DecidingBar {
  /** Canonical. */
  readonly symbol: string
  readonly close: number
  readonly closeTs: string
  /** What was to be expected before the bar, if some of its calls are judged already: all are measured alike. */
  readonly rates?: BaseRates
}

/** A bar closed: it decides the calls on its symbol that are due. */
const settledByBar = (
  calls: Calls,
  { symbol, close, closeTs, rates = calls.rates }: DecidingBar,
  rules: SettlementRules,
): readonly NewEvent[] => {
  const tooLateMs = Date.parse(closeTs) - rules.grace_seconds * 1000
  const due = HORIZONS.flatMap((horizon) =>
    dueIn(calls, symbolQueue(horizon, symbol), ({ dueAt }) => dueAt <= closeTs),
  )
  return due.slice(0, SETTLED_AT_ONCE_MAX).map((call) => {
    if (call.refPrice === null) return told(call, silence('no_price'))
    return Date.parse(call.dueAt) < tooLateMs
      ? told(call, silence('no_bar'))
      : told(call, answerOf(rates, call, { refPrice: call.refPrice, exitPrice: close }, rules))
  })
}

/** Whether a bar that was looked at has left calls behind that it decides. */
const isAnyLeft = (calls: Calls, { symbol, closeTs }: Pick<DecidingBar, 'symbol' | 'closeTs'>): boolean =>
  HORIZONS.some((horizon) => {
    const [first] = waitingIn(calls.due, symbolQueue(horizon, symbol))
    const call = first === undefined ? undefined : calls.open.get(first)
    return call !== undefined && call.dueAt <= closeTs
  })

/** What no bar has decided in time never will be. */
const settledByTime = (calls: Calls, now: string, rules: SettlementRules): readonly NewEvent[] => {
  const latest = new Date(Date.parse(now) - rules.grace_seconds * 1000).toISOString()
  return HORIZONS.flatMap((horizon) => dueIn(calls, horizonQueue(horizon), ({ dueAt }) => dueAt < latest))
    .slice(0, SETTLED_AT_ONCE_MAX)
    .map((call) => told(call, silence(call.refPrice === null ? 'no_price' : 'no_bar')))
}

/** Whether anything would come of `settledByTime`. */
export const isAnyOverdue = (
  calls: Calls,
  now: string,
  rules: Pick<SettlementRules, 'grace_seconds'>,
): boolean => {
  const latest = new Date(Date.parse(now) - rules.grace_seconds * 1000).toISOString()
  return HORIZONS.some((horizon) => {
    const [first] = waitingIn(calls.due, horizonQueue(horizon))
    return first !== undefined && (calls.open.get(first)?.dueAt ?? latest) < latest
  })
}

/** What all trades on a call came to. */
interface TradeResult {
  readonly positionId: string
  readonly exitPrice: number
  /** Net, over what the positions were entered with. */
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
  resolution(call, {
    resolved_by: 'trade',
    position_id: positionId,
    exit_price: exitPrice,
    return_pct: r9(netReturn),
    band_pct: r9(band_min),
    hit: isProfit,
    base_rate: r9(tradeRate(calls.rates, { prior, stopPct, targetPct })),
    void_reason: null,
  })

/** What the market says of a call at its time. */
type Answer = Pick<
  PayloadOf<'attribution.measured.v1'>,
  'exit_price' | 'return_pct' | 'band_pct' | 'hit' | 'base_rate' | 'void_reason'
>

const answerOf = (
  rates: BaseRates,
  call: Call,
  { refPrice, exitPrice }: { readonly refPrice: number; readonly exitPrice: number },
  rules: SettlementRules,
): Answer => {
  const moved = r9(exitPrice / refPrice - 1)
  const band = r9(bandOf(call.refSigma, rules))
  const wanted = MOVE_OF[call.direction]
  return {
    exit_price: exitPrice,
    return_pct: moved,
    band_pct: band,
    hit: moveOf(moved, band) === wanted,
    base_rate: r9(moveRate(rates, call.horizon, wanted, rules.prior)),
    void_reason: null,
  }
}

const silence = (reason: 'no_price' | 'no_bar'): Answer => ({
  exit_price: null,
  return_pct: null,
  band_pct: null,
  hit: null,
  base_rate: null,
  void_reason: reason,
})

/** It decides a call that nobody traded on; of the others it is only told. */
const told = (call: Call, answer: Answer): NewEvent =>
  isBound(call)
    ? measurement(call, answer)
    : resolution(call, { resolved_by: 'horizon', position_id: null, ...answer })

const measurement = (call: Call, answer: Answer): NewEvent => ({
  type: 'attribution.measured.v1',
  source: 'learning',
  payload: {
    ...answer,
    call_id: call.id,
    producer_id: call.producerId,
    contributor_id: call.contributorId,
    symbol: call.symbol,
    direction: call.direction,
    horizon: call.horizon,
    due_at: call.dueAt,
    ref_price: call.refPrice,
  },
})

type Verdict = Answer & Pick<PayloadOf<'attribution.resolved.v1'>, 'resolved_by' | 'position_id'>

const resolution = (call: Call, verdict: Verdict): NewEvent => ({
  type: 'attribution.resolved.v1',
  source: 'learning',
  payload: {
    ...verdict,
    call_id: call.id,
    signal_ids: [...call.signalIds],
    producer_id: call.producerId,
    contributor_id: call.contributorId,
    symbol: call.symbol,
    direction: call.direction,
    ref_price: call.refPrice,
    horizon: call.horizon,
    opened_at: call.openedAt,
    due_at: call.dueAt,
    probability: call.probability,
  },
})

/** From the front of a queue, as long as they are due: those behind are due later. */
const dueIn = (calls: Calls, queue: string, isDue: (call: Call) => boolean): readonly Call[] => {
  const due: Call[] = []
  for (const id of waitingIn(calls.due, queue)) {
    const call = calls.open.get(id)
    if (call === undefined || !isDue(call) || due.length === SETTLED_AT_ONCE_MAX) break
    due.push(call)
  }
  return due
}
