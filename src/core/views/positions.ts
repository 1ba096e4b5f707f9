import { positionId } from '../shared/brand.ts'
import { z } from 'zod'
import { EXIT_REASONS, POSITION_STATUSES } from '../events/trading.ts'
import {
  isAdopted,
  isOpen,
  shownQuantity,
  type Position,
  type Positions,
} from '../trading/positions/positions.ts'
import { priceNumber, priceNumberOrNull, quantityNumber, usdNumber } from '../shared/money.ts'
import { asKnown } from '../events/catalogue.ts'
import type { Stamped } from '../log/event.ts'
import { newestFirst, numberOrNull, shown, textOrNull } from './members.ts'

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
  adopted: z.boolean().meta({ description: 'found at the venue, and not opened here' }),
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
    .sort(newestFirst(({ terms }) => terms.openedAt))
    .slice(0, limit)
    .map(viewPosition)

export const viewPosition = (position: Position): PositionView => {
  const { id, status, terms, holding, mark } = position
  const end = isOpen(position) ? null : position.end
  return showPosition({
    ...terms,
    ...(terms.origin.kind === 'intent' ? terms.origin : NO_INTENT),
    id,
    status,
    entryPrice: priceNumber(holding.entryPrice),
    sizeNotional: usdNumber(holding.notional),
    quantity: quantityNumber(shownQuantity(position)),
    feesUsd: usdNumber(holding.fees),
    stopLoss: priceNumberOrNull(holding.stopLoss),
    takeProfit: priceNumberOrNull(holding.takeProfit),
    closedAt: end?.closedAt,
    realizedPnl: end && usdNumber(end.realized),
    exitPrice: priceNumberOrNull(end?.exitPrice ?? null),
    exitReason: end?.reason,
    markPrice: priceNumber(mark.price),
    unrealizedPnl: end === null ? usdNumber(mark.unrealized) : null,
    adopted: isAdopted(position),
  })
}

const showPosition = shown(positionView)

const NO_INTENT = { convictionId: null, regimeAtEntry: null, pcsAtEntry: null, ctsAtEntry: null }

export const closedAllView = z.object({
  positions: z.array(positionView).meta({ description: 'closed now, or with an exit under way' }),
  failed: z
    .array(z.object({ symbol: z.string(), position_id: z.string().nullable(), reasons: z.array(z.string()) }))
    .meta({ description: 'what could not be closed' }),
})

export type ClosedAllView = z.infer<typeof closedAllView>

/** Result for each position that an operator closed with this command. */
export const viewClosedAll = (events: readonly Stamped[], positions: Positions): ClosedAllView => {
  const known = events.flatMap((event) => asKnown(event) ?? [])
  return {
    positions: known
      .flatMap((event) => (event.type === 'execution.order_submitted.v1' ? event.payload.position_id : []))
      .flatMap((id) => positions.get(positionId(id)) ?? [])
      .map(viewPosition),
    failed: known.flatMap((event) => {
      if (event.type !== 'execution.order_failed.v1') return []
      const { symbol, reasons, details } = event.payload
      const id = details['position_id']
      return [{ symbol, position_id: typeof id === 'string' ? id : null, reasons: [...reasons] }]
    }),
  }
}
