import type { NewEvent, PayloadOf } from '../events/catalogue.ts'
import { r9 } from '../shared/numbers.ts'
import type { Trade } from './trades.ts'

/** The trade, as the portfolio knew it. */
export interface TradeTerms {
  readonly direction: 'long' | 'short'
  readonly openedAt: string
  readonly regimeAtEntry: string
}

/** What came of a trade, beside what was believed when it began. */
export const outcomeEvent = (
  trade: Trade,
  terms: TradeTerms,
  close: PayloadOf<'execution.position_closed.v1'>,
  now: string,
): NewEvent => ({
  type: 'learning.outcome.v1',
  source: 'learning',
  payload: {
    position_id: close.position_id,
    conviction_id: trade.convictionId,
    direction: terms.direction,
    realized_pnl: close.realized_pnl,
    net_return: close.realized_pnl_pct,
    direction_correct: close.gross_pnl > 0,
    time_held_hours: r9((Date.parse(now) - Date.parse(terms.openedAt)) / HOUR_MS),
    max_drawdown_pct: close.max_adverse_pct,
    regime_at_entry: terms.regimeAtEntry,
    domain_scores_at_entry: trade.domainScores,
    signal_ids: [...trade.signalIds],
  },
})

const HOUR_MS = 3_600_000
