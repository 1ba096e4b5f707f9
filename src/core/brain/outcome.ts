import type { NewEvent, PayloadOf } from '../events/catalogue.ts'
import { accept, type Decision } from '../shared/decision.ts'
import { r9 } from '../shared/numbers.ts'
import type { BrainFacts } from './evolve.ts'
import type { Trade } from './trades.ts'

/** The trade, as the portfolio knew it. */
interface TradeTerms {
  readonly direction: 'long' | 'short'
  readonly openedAt: string
  readonly regimeAtEntry: string
}

/** What the engine may learn from a trade that is over. */
export const recordOutcome = (
  { brain, trading }: BrainFacts,
  close: PayloadOf<'execution.position_closed.v1'>,
  now: string,
): Decision => {
  const trade = brain.learning.trades.held.get(close.position_id)
  const position = trading.positions.get(close.position_id)
  if (trade === undefined || position === undefined) return accept()
  return accept(outcomeEvent(trade, position.terms, close, now))
}

/** What came of a trade, beside what was believed when it began. */
const outcomeEvent = (
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
