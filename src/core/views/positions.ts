import { z } from 'zod'
import {
  EXIT_REASONS,
  isOpen,
  POSITION_STATUSES,
  type Position,
  type Positions,
} from '../positions/positions.ts'

const numberOrNull = z.number().nullable()
const textOrNull = z.string().nullable()

export const positionView = z.object({
  id: z.string(),
  platform: z.string(),
  asset: z.string(),
  direction: z.enum(['long', 'short']),
  entry_price: z.number(),
  size_notional: z.number(),
  quantity: z.number(),
  fees_usd: z.number(),
  leverage: numberOrNull,
  margin_type: z.enum(['isolated', 'cross']).nullable(),
  stop_loss: numberOrNull,
  take_profit: numberOrNull,
  opened_at: z.string(),
  closed_at: textOrNull,
  status: z.enum(POSITION_STATUSES),
  realized_pnl: numberOrNull.meta({ description: 'net of fees' }),
  exit_price: numberOrNull,
  exit_reason: z.enum(EXIT_REASONS).nullable(),
  mark_price: numberOrNull,
  unrealized_pnl: numberOrNull,
  conviction_id: textOrNull,
  regime_at_entry: textOrNull,
  pcs_at_entry: numberOrNull,
  cts_at_entry: numberOrNull,
})

export type PositionView = z.infer<typeof positionView>

export const POSITION_FILTERS = ['open', 'closed', 'all'] as const

export interface PositionFilter {
  readonly status: (typeof POSITION_FILTERS)[number]
  readonly limit: number
}

/** Newest first. */
export const viewPositions = (positions: Positions, { status, limit }: PositionFilter): PositionView[] =>
  [...positions.values()]
    .filter((position) => status === 'all' || isOpen(position) === (status === 'open'))
    .sort(newestFirst)
    .slice(0, limit)
    .map(viewPosition)

export const viewPosition = (position: Position): PositionView => ({
  id: position.id,
  platform: position.platform,
  asset: position.asset,
  direction: position.direction,
  entry_price: position.entryPrice,
  size_notional: position.sizeNotional,
  quantity: position.quantity,
  fees_usd: position.feesUsd,
  leverage: position.leverage,
  margin_type: position.marginType,
  stop_loss: position.stopLoss,
  take_profit: position.takeProfit,
  opened_at: position.openedAt,
  closed_at: position.closedAt,
  status: position.status,
  realized_pnl: position.realizedPnl,
  exit_price: position.exitPrice,
  exit_reason: position.exitReason,
  mark_price: position.markPrice,
  unrealized_pnl: position.unrealizedPnl,
  conviction_id: position.convictionId,
  regime_at_entry: position.regimeAtEntry,
  pcs_at_entry: position.pcsAtEntry,
  cts_at_entry: position.ctsAtEntry,
})

const newestFirst = (one: Position, other: Position): number => {
  if (one.openedAt !== other.openedAt) return one.openedAt < other.openedAt ? 1 : -1
  return one.id < other.id ? 1 : -1
}
