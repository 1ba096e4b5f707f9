import { evidenceOf, weightedTypeOf } from '../signal-types/all.ts'
import type { Configuration } from '../config/schema.ts'
import { markNow } from '../signals/prices.ts'
import { CURATOR_TYPE } from '../signal-types/curator.ts'
import { dayFactsOf, sigmaOf } from '../market/readings.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import {
  type CallTerms,
  type Claim,
  directionOfEvidence,
  joinedCall,
  openedCall,
  probabilityOf,
} from './open-call.ts'
import { callSlot } from './calls.ts'
import { directionOf } from '../signals/reading.ts'
import type { CallMade, CallOf, NewSignal } from '../signals/signals.ts'
import { authorKey } from '../shared/author-key.ts'
import { derivedId } from '../shared/derived-id.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import type { ReputationFacts } from './evolve.ts'

/** The calls that the signals of one command make. Of two that say the same the second joins the first. */
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

const made = ({ direction, probability }: Claim, terms: CallTerms | null): CallMade =>
  terms === null
    ? { direction, ...NO_CALL, probability }
    : {
        direction,
        probability,
        call_id: terms.id,
        horizon: terms.horizon,
        due_at: terms.dueAt,
        ref_price: terms.refPrice,
        ref_sigma: terms.refSigma,
      }

const termsOf = (
  facts: ReputationFacts,
  signal: NewSignal,
  claim: Claim,
  context: DecisionContext,
): CallTerms | null => {
  const { now, configuration, sha256Hex } = context
  const joined = joinedCall(facts.reputation.calls, claim, now)
  if (joined !== null) return joined
  return openedCall(facts.reputation.calls, claim, {
    id: derivedId('call', signal.signalId, sha256Hex),
    now,
    reference: {
      price: markNow(facts, claim.symbol, context)?.price ?? null,
      sigma: sigmaOf(facts.market, claim.symbol),
      barSeconds: facts.market.rules.barSeconds,
    },
    rules: configuration.settlement,
  })
}

/** Names everything and therefore nothing. */
const GLOBAL = 'GLOBAL'

/** What a signal claims about a symbol; null if that is nothing. */
const claimOf = (facts: ReputationFacts, signal: NewSignal, configuration: Configuration): Claim | null => {
  const { type, payload, contributorId, producerId } = signal
  const domain = weightedTypeOf(type)?.domain ?? null
  const symbol = typeof payload['symbol'] === 'string' ? canonicalSymbol(payload['symbol']) : ''
  if (domain === null || symbol === '' || symbol === GLOBAL) return null
  const view =
    type === CURATOR_TYPE ? opinionIn(signal, configuration) : readingOf(facts, signal, symbol, configuration)
  if (view === null) return null
  const author = authorKey(contributorId, producerId)
  return { author, symbol, domain, asked: payload['horizon'], ...view }
}

type View = Pick<Claim, 'direction' | 'probability'>

/** A person says it himself, and how sure he is, also of calm. */
const opinionIn = ({ payload }: NewSignal, { brain }: Configuration): View | null => {
  const direction = directionOf(payload)
  if (direction === null) return null
  const { conviction } = payload
  const strength = typeof conviction === 'number' ? conviction / brain.parts.curator.conviction_scale : 0
  return { direction, probability: probabilityOf(strength) }
}

/** What a measurement means is what the brain reads in it. */
const readingOf = (
  { market }: ReputationFacts,
  { type, payload }: NewSignal,
  symbol: string,
  { brain, settlement }: Configuration,
): View | null => {
  const facts = { ...dayFactsOf(market, symbol), mark: null }
  const evidence = evidenceOf({ type, payload }, facts, brain.parts)
  if (evidence === null) return null
  return {
    direction: directionOfEvidence(evidence, settlement.dead_zone),
    probability: probabilityOf(Math.abs(evidence)),
  }
}
