import type { Domain } from '../shared/domains.ts'
import { type Horizon, HORIZON_MS, horizonIn } from '../shared/horizon.ts'
import { clamp01, r9 } from '../shared/numbers.ts'
import { type Call, type CallDirection, type Calls, CALLS_MAX, callSlot } from './calls.ts'

/** What a signal says, as far as a call is concerned. */
export interface Claim {
  readonly author: string
  /** Canonical. */
  readonly symbol: string
  readonly domain: Domain
  readonly direction: CallDirection
  readonly probability: number
  /** The horizon that the signal asks for, if it is one. */
  readonly asked: unknown
}

export type CallTerms = Pick<Call, 'id' | 'horizon' | 'dueAt' | 'refPrice' | 'refSigma'>

/** What is known of the price when a call is opened. */
export interface Reference {
  readonly price: number | null
  /** Standard deviation of the return of one analysis bar. */
  readonly sigma: number | null
  readonly barSeconds: number
}

export interface OpeningRules {
  readonly horizons: Readonly<Record<Domain, Horizon>>
}

/** The open call of the same author, symbol and direction; null if the signal has to open one. */
export const joinedCall = (calls: Calls, { author, symbol, direction }: Claim, now: string): Call | null => {
  const id = calls.current.get(callSlot(author, symbol, direction))
  const call = id === undefined ? undefined : calls.open.get(id)
  // One whose time has come is over, be it traded on or not: what is said now is about later.
  return call === undefined || call.dueAt <= now ? null : call
}

/** Null when there are too many already. */
export const openedCall = (
  calls: Calls,
  claim: Claim,
  { id, now, reference, rules }: Opening,
): CallTerms | null => {
  if (calls.open.size >= CALLS_MAX) return null
  const horizon = horizonIn(claim.asked) ?? rules.horizons[claim.domain]
  const { price, sigma, barSeconds } = reference
  return {
    id,
    horizon,
    dueAt: new Date(Date.parse(now) + HORIZON_MS[horizon]).toISOString(),
    refPrice: price,
    refSigma: sigma === null ? null : r9(sigma * Math.sqrt(HORIZON_MS[horizon] / (barSeconds * 1000))),
  }
}

interface Opening {
  readonly id: string
  readonly now: string
  readonly reference: Reference
  readonly rules: OpeningRules
}

/** Which way evidence points; little of it points nowhere. */
export const directionOfEvidence = (evidence: number, deadZone: number): CallDirection => {
  if (Math.abs(evidence) < deadZone) return 'neutral'
  return evidence > 0 ? 'bullish' : 'bearish'
}

/** From 0.5, no idea, to 1, certain. */
export const probabilityOf = (strength: number): number => r9(0.5 + clamp01(strength) / 2)
