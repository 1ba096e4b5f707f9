import type { KnownEvent } from '../events/catalogue.ts'
import type { Usd } from '../shared/money.ts'
import { dayOf } from '../shared/time.ts'
import { evolveCurve, INITIAL_CURVE, type EquityCurve } from './equity-curve.ts'

/** What equity was: its highest, where the day began, and its way. */
export interface Risk {
  readonly peak: Usd
  readonly dayStart: { readonly day: string; readonly equity: Usd }
  readonly curve: EquityCurve
  /** Receive time of the event folded last. */
  readonly at: string
}

export const INITIAL_RISK: Risk = {
  peak: 0n,
  dayStart: { day: '', equity: 0n },
  curve: INITIAL_CURVE,
  at: '',
}

/** Equity as it was before an event, and whether anything has been traded by then. */
export interface EquityBefore {
  readonly equity: Usd
  readonly hasTraded: boolean
}

/**
 * Inside a batch equity passes through values that never were: a bar of one symbol before that of another.
 * So it is looked at when the next batch comes, as the last one left it.
 */
export const evolveRisk = (risk: Risk, { recordedAt }: KnownEvent, before: EquityBefore): Risk => {
  if (recordedAt === risk.at) return risk
  const { equity, hasTraded } = before
  const day = dayOf(recordedAt)
  const isNewDay = day !== risk.dayStart.day
  return {
    peak: hasTraded && risk.peak > equity ? risk.peak : equity,
    dayStart: isNewDay || !hasTraded ? { day, equity } : risk.dayStart,
    curve:
      risk.at === ''
        ? risk.curve
        : evolveCurve(risk.curve, Date.parse(risk.at), Date.parse(recordedAt), equity),
    at: recordedAt,
  }
}
