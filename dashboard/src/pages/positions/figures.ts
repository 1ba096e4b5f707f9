import type { Position } from '../../api/types.ts'

export const isOpen = ({ status }: Position): boolean => status !== 'closed' && status !== 'liquidated'

/** Realized when closed, else unrealized; null without a price. */
export const pnlOf = (position: Position): number | null =>
  isOpen(position) ? position.unrealized_pnl : position.realized_pnl

/** Profit as a share of the size. */
export const returnOf = (position: Position): number | null => {
  const pnl = pnlOf(position)
  return pnl === null || position.size_notional === 0 ? null : pnl / position.size_notional
}

/** Profit in units of the initial risk; null without a stop. */
export const rMultipleOf = (position: Position): number | null => {
  const { stop_loss, entry_price, quantity } = position
  const pnl = pnlOf(position)
  if (pnl === null || stop_loss === null) return null
  const riskUsd = Math.abs(entry_price - stop_loss) * quantity
  return riskUsd === 0 ? null : pnl / riskUsd
}

/** Distance of the price to a level, as a share of the price; null while either is unknown. */
export const distanceTo = (level: number | null, mark: number | null): number | null =>
  level === null || mark === null || mark === 0 ? null : (level - mark) / mark

export const heldMs = ({ opened_at, closed_at }: Position, nowMs: number): number =>
  (closed_at === null ? nowMs : Date.parse(closed_at)) - Date.parse(opened_at)

interface TradeRecord {
  readonly count: number
  readonly wins: number
  readonly pnlUsd: number
  readonly averageWinUsd: number | null
  readonly averageLossUsd: number | null
}

/** Results of closed positions. */
export const recordOf = (positions: readonly Position[]): TradeRecord => {
  const pnls = positions.flatMap(({ realized_pnl }) => (realized_pnl === null ? [] : [realized_pnl]))
  const wins = pnls.filter((pnl) => pnl > 0)
  const losses = pnls.filter((pnl) => pnl <= 0)
  return {
    count: pnls.length,
    wins: wins.length,
    pnlUsd: sum(pnls),
    averageWinUsd: wins.length === 0 ? null : sum(wins) / wins.length,
    averageLossUsd: losses.length === 0 ? null : sum(losses) / losses.length,
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
