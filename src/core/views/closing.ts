import { positionId } from '../shared/brand.ts'
import { z } from 'zod'
import { asKnown } from '../events/catalogue.ts'
import type { Stamped } from '../log/event.ts'
import type { Positions } from '../trading/positions.ts'
import { positionView, viewPosition } from './positions.ts'

export const closedAllView = z.object({
  positions: z.array(positionView).meta({ description: 'closed now, or with an exit under way' }),
  failed: z
    .array(z.object({ symbol: z.string(), position_id: z.string().nullable(), reasons: z.array(z.string()) }))
    .meta({ description: 'what could not be closed' }),
})

export type ClosedAllView = z.infer<typeof closedAllView>

/** What became of every position that an operator wanted closed. */
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
