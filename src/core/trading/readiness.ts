import { isSandbox } from '../shared/sandbox.ts'
import { DAY_MS } from '../shared/time.ts'
import type { Venue } from './venue.ts'

/** Why no real entry is sent. */
export type Blocker =
  | 'no_venue'
  | 'not_confirmed'
  | 'not_checked'
  | 'check_failed'
  | 'reduce_only'
  | 'order_unknown'
  | 'paper_period'

export interface ReadinessFacts {
  readonly now: string
  /** As configured; empty for none. */
  readonly venue: string
  readonly paperDaysMin: number
  /** Orders of which nobody knows whether the venue has them. */
  readonly unknownOrders: number
}

/** Every one of them. Empty: entries are sent. */
export const blockersOf = (state: Venue, facts: ReadinessFacts): readonly Blocker[] => {
  const { confirmed, checked, reduceOnly, firstPaperAt } = state
  if (facts.venue === '') return ['no_venue']
  const isChecked = checked !== null && checked.venue === facts.venue
  const holds: Readonly<Record<Exclude<Blocker, 'no_venue'>, boolean>> = {
    not_confirmed: confirmed?.venue !== facts.venue,
    not_checked: !isChecked,
    check_failed: isChecked && !checked.ok,
    reduce_only: reduceOnly !== null,
    order_unknown: facts.unknownOrders > 0,
    // Practice is no more than paper.
    paper_period: !isSandbox(facts.venue) && !isPaperPeriodOver(firstPaperAt, facts),
  }
  return (Object.keys(holds) as readonly (keyof typeof holds)[]).filter((blocker) => holds[blocker])
}

/** Who never traded on paper has not begun to wait. */
const isPaperPeriodOver = (
  firstPaperAt: string | null,
  { now, paperDaysMin }: Pick<ReadinessFacts, 'now' | 'paperDaysMin'>,
): boolean => firstPaperAt !== null && Date.parse(now) - Date.parse(firstPaperAt) >= paperDaysMin * DAY_MS
