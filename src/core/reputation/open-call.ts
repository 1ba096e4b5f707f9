import { callId, type CallId, type CanonicalSymbol, type Timestamp } from '../shared/brand.ts'
import { priceNumberOrNull, type Price } from '../shared/money.ts'
import type { Domain } from '../shared/domains.ts'
import { type Horizon, HORIZON_MS, horizonIn, msOf, timestampAt, isFromFuture } from '../shared/time.ts'
import { clamp01, r9 } from '../shared/numbers.ts'
import { type Call, type CallDirection, type Calls, CALLS_MAX, callSlot, PARTS_OF_HORIZON } from './calls.ts'
import { evidenceOf, weightedTypeOf } from '../signal-types/all.ts'
import type { MarketFacts } from '../signal-types/declare.ts'
import type { Configuration } from '../config/schema.ts'
import { markNow } from '../signals/prices.ts'
import { CURATOR_TYPE } from '../signal-types/curator.ts'
import { dayFactsOf, sigmaOf } from '../market/readings.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { type CallMade, type CallOf, directionOf, type NewSignal } from '../signals/signals.ts'
import { authorKey } from '../shared/author-key.ts'
import { derivedId } from '../shared/derived-id.ts'
import { canonicalSymbol, namesAsset } from '../shared/symbol.ts'
import type { ReputationFacts } from './evolve.ts'

/** The call that a signal makes, before it is known whether it opens or joins one. */
interface CallClaim {
  readonly author: string
  readonly symbol: CanonicalSymbol
  readonly domain: Domain
  readonly direction: CallDirection
  readonly probability: number
  /** Horizon in the payload, unchecked. */
  readonly requestedHorizon: unknown
}

type CallTerms = Pick<Call, 'id' | 'horizon' | 'dueAt' | 'refPrice' | 'refSigma'>

/** Price facts at the time when a call is opened. */
interface Reference {
  readonly price: Price | null
  /** Standard deviation of the return of one analysis bar. */
  readonly sigma: number | null
  readonly barSeconds: number
}

interface OpeningRules {
  readonly horizons: Readonly<Record<Domain, Horizon>>
}

/**
 * The latest call of the same author, symbol and direction; null if the signal has to open one. A signal joins only a
 * call that was opened shortly before, because mostly the same prices would judge both. A later repetition is a
 * separate call. Otherwise only changes of mind would be judged for an author who speaks often, and half of those are
 * right whatever the author knows.
 */
const joinedCall = (calls: Calls, { author, symbol, direction }: CallClaim, now: Timestamp): Call | null => {
  const id = calls.current.get(callSlot(author, symbol, direction))
  const call = id === undefined ? undefined : calls.open.get(id)
  // A due call accepts no more signals, traded on or not: a new signal is about a later time.
  if (call === undefined || call.dueAt <= now) return null
  if (msOf(now) - msOf(call.openedAt) >= HORIZON_MS[call.horizon] / PARTS_OF_HORIZON) return null
  // A call that a wrong clock opened accepts none either: it would be due long after any horizon.
  return isFromFuture(msOf(call.dueAt), msOf(now) + HORIZON_MS[call.horizon]) ? null : call
}

/** Returns null if the limit of open calls is reached. */
const openedCall = (
  calls: Calls,
  claim: CallClaim,
  { id, now, reference, rules }: CallOpening,
): CallTerms | null => {
  const { price, sigma, barSeconds } = reference
  // Clients can invent symbols. Calls without a price are limited to half, so that they cannot block calls that the
  // market judges.
  if (calls.open.size >= (price === null ? CALLS_MAX / 2 : CALLS_MAX)) return null
  const horizon = horizonIn(claim.requestedHorizon) ?? rules.horizons[claim.domain]
  return {
    id,
    horizon,
    dueAt: timestampAt(msOf(now) + HORIZON_MS[horizon]),
    refPrice: price,
    refSigma: sigma === null ? null : r9(sigma * Math.sqrt(HORIZON_MS[horizon] / (barSeconds * 1000))),
  }
}

interface CallOpening {
  readonly id: CallId
  readonly now: Timestamp
  readonly reference: Reference
  readonly rules: OpeningRules
}

/** Evidence inside the dead zone is a neutral call. */
export const directionOfEvidence = (evidence: number, deadZone: number): CallDirection => {
  if (Math.abs(evidence) < deadZone) return 'neutral'
  return evidence > 0 ? 'bullish' : 'bearish'
}

/** From 0.5 (chance) to 1 (certain). */
export const probabilityOf = (strength: number): number => r9(0.5 + clamp01(strength) / 2)

/** The calls that the signals of one command make. The second of two equal signals joins the call of the first. */
export const callsOfSignals = (facts: ReputationFacts, context: DecisionContext): CallOf => {
  const opened = new Map<string, CallTerms | null>()
  return (signal) => {
    const claim = claimOf(facts, signal, context.configuration)
    if (claim === null) return { direction: directionOf(signal.payload), ...NO_CALL }
    const slot = callSlot(claim.author, claim.symbol, claim.direction)
    const before = opened.get(slot)
    const terms = before === undefined ? termsOf(facts, signal, claim, context) : before
    opened.set(slot, terms)
    return made(claim, terms)
  }
}

const NO_CALL = {
  probability: null,
  call_id: null,
  horizon: null,
  due_at: null,
  ref_price: null,
  ref_sigma: null,
} as const

const made = ({ direction, probability }: CallClaim, terms: CallTerms | null): CallMade =>
  terms === null
    ? { direction, ...NO_CALL, probability }
    : {
        direction,
        probability,
        call_id: terms.id,
        horizon: terms.horizon,
        due_at: terms.dueAt,
        ref_price: priceNumberOrNull(terms.refPrice),
        ref_sigma: terms.refSigma,
      }

const termsOf = (
  facts: ReputationFacts,
  signal: NewSignal,
  claim: CallClaim,
  context: DecisionContext,
): CallTerms | null => {
  const { configuration, sha256Hex } = context
  const { at: now } = signal
  const joined = joinedCall(facts.reputation.calls, claim, now)
  if (joined !== null) return joined
  return openedCall(facts.reputation.calls, claim, {
    id: callId(derivedId('call', signal.signalId, sha256Hex)),
    now,
    reference: {
      price: markNow(facts, claim.symbol, context)?.price ?? null,
      sigma: sigmaOf(facts.market, claim.symbol),
      barSeconds: facts.market.rules.barSeconds,
    },
    rules: configuration.settlement,
  })
}

/** Returns null for a signal that makes no call. */
const claimOf = (
  facts: ReputationFacts,
  signal: Omit<NewSignal, 'signalId'>,
  configuration: Configuration,
): CallClaim | null => {
  const { type, payload, contributorId, producerId } = signal
  const domain = weightedTypeOf(type)?.domain ?? null
  const symbol = canonicalSymbol(typeof payload['symbol'] === 'string' ? payload['symbol'] : '')
  if (domain === null || !namesAsset(symbol)) return null
  const view =
    type === CURATOR_TYPE ? opinionIn(signal, configuration) : readingOf(facts, signal, symbol, configuration)
  if (view === null) return null
  const author = authorKey(contributorId, producerId)
  const { direction, probability } = view
  return { author, symbol, domain, direction, probability, requestedHorizon: payload['horizon'] }
}

type StatedView = Pick<CallClaim, 'direction' | 'probability'>

/** A contributor states the direction, also neutral, and the conviction. */
const opinionIn = ({ payload }: Pick<NewSignal, 'payload'>, { brain }: Configuration): StatedView | null => {
  const direction = directionOf(payload)
  if (direction === null) return null
  const { conviction } = payload
  const strength = typeof conviction === 'number' ? conviction / brain.parts.curator.conviction_scale : 0
  return { direction, probability: probabilityOf(strength) }
}

/** The direction of a measurement follows from its evidence. */
const readingOf = (
  facts: ReputationFacts,
  { type, payload }: Pick<NewSignal, 'type' | 'payload'>,
  symbol: CanonicalSymbol,
  { brain, settlement }: Configuration,
): StatedView | null => {
  const evidence = evidenceOf({ type, payload }, new DayOf(facts, symbol), brain.parts)
  if (evidence === null) return null
  return {
    direction: directionOfEvidence(evidence, settlement.dead_zone),
    probability: probabilityOf(Math.abs(evidence)),
  }
}

/** Market facts of the last day, computed on access, because only few signal types read them. */
class DayOf implements MarketFacts {
  readonly mark = null
  readonly #facts: Pick<ReputationFacts, 'market'>
  readonly #symbol: CanonicalSymbol

  constructor(facts: Pick<ReputationFacts, 'market'>, symbol: CanonicalSymbol) {
    this.#facts = facts
    this.#symbol = symbol
  }

  get volume24hUsd(): number | null {
    return dayFactsOf(this.#facts.market, this.#symbol).volume24hUsd
  }

  get return24hPct(): number | null {
    return dayFactsOf(this.#facts.market, this.#symbol).return24hPct
  }
}
