import type {
  CallId,
  CanonicalSymbol,
  ContributorId,
  PositionId,
  SignalId,
  Timestamp,
} from '../shared/brand.ts'
import { assertFold } from '../shared/assert.ts'
import { moveOf, NO_RATES, withMove, withTrade, type BaseRates } from './base-rates.ts'
import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { priceOrNull, type Price } from '../shared/money.ts'
import { authorKey } from '../shared/author-key.ts'
import { clamp01 } from '../shared/numbers.ts'
import { dayNumber, type Horizon, HORIZON_MS, HORIZONS, msOf } from '../shared/time.ts'
import { type DueQueues, nextPlace, NO_QUEUES, withLast, withoutPlace } from './due-queues.ts'

export type CallDirection = PayloadOf<'attribution.resolved.v1'>['direction']

/** An unsettled prediction of an author about a symbol. */
export interface Call {
  readonly id: CallId
  readonly producerId: string
  readonly contributorId: ContributorId | null
  readonly symbol: CanonicalSymbol
  readonly direction: CallDirection
  readonly horizon: Horizon
  readonly openedAt: Timestamp
  readonly dueAt: Timestamp
  readonly refPrice: Price | null
  readonly refSigma: number | null
  readonly probability: number
  /** The first and the latest of the signals that belong to the call. */
  readonly signalIds: readonly SignalId[]
  /** Positions opened on this call. If present, the call is settled by their result instead of at its horizon. */
  readonly positionIds: readonly PositionId[]
  /** True once its trades have settled the call while the price move until `dueAt` is still unmeasured. */
  readonly isDecided: boolean
  /** True once the price move is measured while its trades are still open. */
  readonly isMeasured: boolean
  /** Positions of the call in the due queues of its symbol and of its horizon. */
  readonly places: { readonly ofSymbol: number; readonly ofHorizon: number }
  /** Time since the previous call of the author on the symbol, in any direction, divided by the horizon; at most 1. */
  readonly spacing: number
}

export interface Calls {
  readonly open: PersistentMap<CallId, Call>
  /** The call that the next signal of an author would join. */
  readonly current: PersistentMap<string, CallId>
  readonly ofSignal: PersistentMap<SignalId, CallId>
  readonly ofPosition: PersistentMap<PositionId, readonly CallId[]>
  readonly due: DueQueues
  readonly rates: BaseRates
}

export const INITIAL_CALLS: Calls = {
  open: PersistentMap(),
  current: PersistentMap(),
  ofSignal: PersistentMap(),
  ofPosition: PersistentMap(),
  due: NO_QUEUES,
  rates: NO_RATES,
}

/** Limit of open calls. Beyond it, signals open no new calls. */
export const CALLS_MAX = 200_000
/** Signals kept per call. Beyond this, a call keeps the first and the latest ones. */
export const CALL_SIGNALS_MAX = 100
/** Signals kept over all calls. Beyond this, a call keeps only its first and latest signal. */
export const SIGNALS_MAX = 2 * CALLS_MAX

/**
 * A horizon is divided into this many parts, and the prices of the last part judge a call: for a day, those of the last
 * three hours.
 */
export const PARTS_OF_HORIZON = 8

export const callSlot = (author: string, symbol: CanonicalSymbol, direction: CallDirection): string =>
  `${author}|${direction}|${symbol}`

export const symbolQueue = (horizon: Horizon, symbol: CanonicalSymbol): string => `${horizon}|${symbol}`
export const horizonQueue = (horizon: Horizon): string => horizon

export const evolveCalls = (calls: Calls, event: KnownEvent): Calls => {
  switch (event.type) {
    case 'attribution.recorded.v1':
      return recorded(calls, event.payload)
    case 'execution.position_opened.v1':
      return bound(calls, event.payload, event.ts)
    case 'attribution.resolved.v1':
      return resolved(calls, event.payload, dayNumber(event.ts))
    case 'attribution.measured.v1':
      return measured(calls, event.payload, dayNumber(event.ts))
    default:
      return calls
  }
}

const recorded = (calls: Calls, attribution: PayloadOf<'attribution.recorded.v1'>): Calls => {
  const { call_id: callId, signal_id: signalId } = attribution
  // `callId` is null for a signal that makes no call, and absent from a damaged event.
  if (typeof callId !== 'string') return calls
  const known = calls.open.get(callId)
  if (known !== undefined) return joined(calls, known, signalId)
  const { symbol, direction, horizon, due_at: dueAt } = attribution
  if (symbol === null || direction === null || !isHorizon(horizon) || typeof dueAt !== 'string') return calls
  const [ofSymbol, ofHorizon] = [symbolQueue(horizon, symbol), horizonQueue(horizon)]
  const call: Call = {
    id: callId,
    producerId: attribution.producer_id,
    contributorId: attribution.contributor_id,
    symbol,
    direction,
    horizon,
    openedAt: attribution.received_at,
    dueAt,
    refPrice: priceOrNull(attribution.ref_price ?? null),
    refSigma: attribution.ref_sigma ?? null,
    probability: attribution.probability ?? 0.5,
    signalIds: [signalId],
    positionIds: [],
    isDecided: false,
    isMeasured: false,
    places: { ofSymbol: nextPlace(calls.due, ofSymbol), ofHorizon: nextPlace(calls.due, ofHorizon) },
    spacing: spacingOf(calls, attribution, symbol, horizon),
  }
  return {
    open: calls.open.set(callId, call),
    current: calls.current.set(slotOf(call), callId),
    ofSignal: calls.ofSignal.set(signalId, callId),
    ofPosition: calls.ofPosition,
    due: withLast(withLast(calls.due, ofSymbol, callId), ofHorizon, callId),
    rates: calls.rates,
  }
}

const DIRECTIONS: readonly CallDirection[] = ['bullish', 'bearish', 'neutral']

/**
 * Spacing from the previous open call of the author. Returns 1 if there is none, mostly because its horizon has ended.
 */
const spacingOf = (
  { current, open }: Calls,
  { contributor_id, producer_id, received_at }: PayloadOf<'attribution.recorded.v1'>,
  symbol: CanonicalSymbol,
  horizon: Horizon,
): number => {
  const author = authorKey(contributor_id, producer_id)
  const now = msOf(received_at)
  let spacing = 1
  for (const direction of DIRECTIONS) {
    const id = current.get(callSlot(author, symbol, direction))
    const before = id === undefined ? undefined : open.get(id)
    if (before === undefined) continue
    const since = clamp01((now - msOf(before.openedAt)) / HORIZON_MS[horizon])
    // The comparison is false for a damaged time (NaN), which must not become the spacing.
    if (since < spacing) spacing = since
  }
  return spacing
}

const joined = (calls: Calls, call: Call, signalId: SignalId): Calls => {
  const most = calls.ofSignal.size < SIGNALS_MAX ? CALL_SIGNALS_MAX : 2
  // Copied only once, because this runs for every repeated signal.
  const signalIds = call.signalIds.concat(signalId)
  const dropped = call.signalIds.length < most ? undefined : signalIds.splice(1, 1)[0]
  const remembered = dropped === undefined ? calls.ofSignal : calls.ofSignal.delete(dropped)
  return {
    open: calls.open.set(call.id, withSignals(call, signalIds)),
    current: calls.current,
    ofSignal: remembered.set(signalId, call.id),
    ofPosition: calls.ofPosition,
    due: calls.due,
    rates: calls.rates,
  }
}

/** Spelled out member by member, because this runs for most signals and a spread is slower. */
const withSignals = (call: Call, signalIds: readonly SignalId[]): Call => ({
  id: call.id,
  producerId: call.producerId,
  contributorId: call.contributorId,
  symbol: call.symbol,
  direction: call.direction,
  horizon: call.horizon,
  openedAt: call.openedAt,
  dueAt: call.dueAt,
  refPrice: call.refPrice,
  refSigma: call.refSigma,
  probability: call.probability,
  signalIds,
  positionIds: call.positionIds,
  isDecided: call.isDecided,
  isMeasured: call.isMeasured,
  places: call.places,
  spacing: call.spacing,
})

/** A trade that is opened on a call before its due time decides the call. */
const bound = (before: Calls, opened: PayloadOf<'execution.position_opened.v1'>, at: Timestamp): Calls => {
  const openedId = opened.position_id
  // A damaged event may lack `signal_ids`.
  const signalIds = (opened.signal_ids as readonly SignalId[] | undefined) ?? []
  const ids = new Set(signalIds.flatMap((signalId) => before.ofSignal.get(signalId) ?? []))
  let { open } = before
  const boundIds: CallId[] = []
  for (const id of ids) {
    const call = open.get(id)
    if (call === undefined || (!isBound(call) && call.dueAt < at)) continue
    open = open.set(id, Object.assign({}, call, { positionIds: [...call.positionIds, openedId] }))
    boundIds.push(id)
  }
  if (boundIds.length === 0) return before
  const { current, ofSignal, due, rates } = before
  return { open, current, ofSignal, ofPosition: before.ofPosition.set(openedId, boundIds), due, rates }
}

export const isBound = ({ positionIds }: Call): boolean => positionIds.length > 0

const resolved = (calls: Calls, verdict: PayloadOf<'attribution.resolved.v1'>, day: number): Calls => {
  const call = calls.open.get(verdict.call_id)
  assertFold(call !== undefined, `call ${verdict.call_id} is resolved but not open`)
  const slot = slotOf(call)
  const isOver = call.isMeasured || verdict.resolved_by === 'horizon'
  return {
    open: isOver
      ? calls.open.delete(call.id)
      : calls.open.set(call.id, Object.assign({}, call, { isDecided: true })),
    current: calls.current.get(slot) === call.id ? calls.current.delete(slot) : calls.current,
    ofSignal: calls.ofSignal.deleteAll(call.signalIds),
    ofPosition: calls.ofPosition.deleteAll(call.positionIds),
    due: isOver && !call.isMeasured ? withoutCall(calls.due, call) : calls.due,
    rates: counted(calls.rates, verdict, day),
  }
}

const measured = (calls: Calls, measure: PayloadOf<'attribution.measured.v1'>, day: number): Calls => {
  const call = calls.open.get(measure.call_id)
  assertFold(call !== undefined && !call.isMeasured, `call ${measure.call_id} is measured but not open`)
  return {
    open: call.isDecided
      ? calls.open.delete(call.id)
      : calls.open.set(call.id, Object.assign({}, call, { isMeasured: true })),
    current: calls.current,
    ofSignal: calls.ofSignal,
    ofPosition: calls.ofPosition,
    due: withoutCall(calls.due, call),
    rates: withMoveOf(calls.rates, measure, day),
  }
}

const counted = (rates: BaseRates, verdict: PayloadOf<'attribution.resolved.v1'>, day: number): BaseRates => {
  const { hit, resolved_by, position_id } = verdict
  if (resolved_by === 'horizon') return withMoveOf(rates, verdict, day)
  return hit === null ? rates : withTrade(rates, position_id, hit)
}

const withMoveOf = (
  rates: BaseRates,
  {
    horizon,
    return_pct: moved,
    band_pct: band,
  }: Pick<PayloadOf<'attribution.measured.v1'>, 'horizon' | 'return_pct' | 'band_pct'>,
  day: number,
): BaseRates => (moved === null || band === null ? rates : withMove(rates, horizon, moveOf(moved, band), day))

const withoutCall = (due: DueQueues, { horizon, symbol, places }: Call): DueQueues =>
  withoutPlace(
    withoutPlace(due, symbolQueue(horizon, symbol), places.ofSymbol),
    horizonQueue(horizon),
    places.ofHorizon,
  )

const slotOf = ({ contributorId, producerId, symbol, direction }: Call): string =>
  callSlot(authorKey(contributorId, producerId), symbol, direction)

const isHorizon = (value: unknown): value is Horizon => HORIZONS.some((horizon) => horizon === value)
