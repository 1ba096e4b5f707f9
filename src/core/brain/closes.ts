import type { PayloadOf } from '../events/catalogue.ts'
import { r9 } from '../shared/numbers.ts'

/** A trade that is over, as far as learning needs it. */
export interface Close {
  readonly at: string
  readonly won: boolean
  readonly netReturn: number
  /** 1 for a long, -1 for a short. */
  readonly side: 1 | -1
  /** What each domain said when it began, -1 to 1. */
  readonly values: Readonly<Record<string, number>>
  readonly signals: number
}

/** The newest closes, oldest first, in pieces: a new one costs no more than a piece. */
export type Closes = readonly (readonly Close[])[]

export const NO_CLOSES: Closes = []

const PIECE = 100
const PIECES_MAX = 101

/** As many closes as any configuration can ask for are always there. */
export const CLOSES_KEPT = PIECE * (PIECES_MAX - 1)

export const closeOf = (outcome: PayloadOf<'learning.outcome.v1'>, at: string): Close => ({
  at,
  won: outcome.realized_pnl > 0,
  netReturn: outcome.net_return,
  side: outcome.direction === 'long' ? 1 : -1,
  values: Object.fromEntries(
    Object.entries(outcome.domain_scores_at_entry).map(([domain, score]) => [domain, r9(2 * score - 1)]),
  ),
  signals: outcome.signal_ids.length,
})

export const withClose = (closes: Closes, close: Close): Closes => {
  const last = closes.at(-1)
  if (last !== undefined && last.length < PIECE) return [...closes.slice(0, -1), [...last, close]]
  return [...closes.slice(-(PIECES_MAX - 1)), [close]]
}

/** Those after a time, oldest first. Times never decrease, so older pieces are not looked at. */
export const closesAfter = (closes: Closes, from: string): readonly Close[] => {
  const first = closes.findLastIndex((piece) => (piece[0]?.at ?? '') <= from)
  return closes
    .slice(Math.max(0, first))
    .flat()
    .filter(({ at }) => at > from)
}
