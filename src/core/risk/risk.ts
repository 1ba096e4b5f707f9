import type { KnownEvent } from '../events/catalogue.ts'
import type { Usd } from '../vocabulary/money.ts'
import { dayOf } from '../vocabulary/time.ts'

/** What equity was: its highest, and where the day began. */
export interface Risk {
  readonly peak: Usd
  readonly dayStart: { readonly day: string; readonly equity: Usd }
  /** Receive time of the event folded last. */
  readonly at: string
}

export const INITIAL_RISK: Risk = { peak: 0n, dayStart: { day: '', equity: 0n }, at: '' }

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
    at: recordedAt,
  }
}
