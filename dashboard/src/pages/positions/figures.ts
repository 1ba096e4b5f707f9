import type { Position } from '../../api/types.ts'

export const isOpen = ({ status }: Position): boolean => status !== 'closed' && status !== 'liquidated'

/** Realized once it is over, until then what it would be now; null while no price is known. */
export const pnlOf = (position: Position): number | null =>
  isOpen(position) ? position.unrealized_pnl : position.realized_pnl

/** Of what was put in. */
export const returnOf = (position: Position): number | null => {
  const pnl = pnlOf(position)
  return pnl === null || position.size_notional === 0 ? null : pnl / position.size_notional
}

/** How often the risk that was taken was won or lost; null without a stop. */
export const riskMultipleOf = (position: Position): number | null => {
  const { stop_loss, entry_price, quantity } = position
  const pnl = pnlOf(position)
  if (pnl === null || stop_loss === null) return null
  const riskUsd = Math.abs(entry_price - stop_loss) * quantity
  return riskUsd === 0 ? null : pnl / riskUsd
}

/** How far a price has to move to get there, as a share of it; null while either is unknown. */
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

/** What closed positions came to. */
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
