import { positionId } from '../../../core/shared/brand.ts'
import { z } from 'zod'
import { assert } from '../../../core/shared/assert.ts'
import type { Operator } from '../../../core/trading/exits.ts'
import { closedAllView, viewClosedAll } from '../../../core/views/positions.ts'
import { POSITION_FILTERS, positionView, viewPosition, viewPositions } from '../../../core/views/positions.ts'
import { positionOf, POSITIONS_MAX } from '../../../engine/queries/views.ts'
import { withLogChecked } from '../../../engine/queries/trading-records.ts'
import { resultOf, ok, refused, type Refused } from '../results.ts'
import { POSITION, POSITION_ID } from '../examples.ts'
import { CLOSED_POSITION } from '../examples-trading.ts'
import { integer, optionalReason, pathText } from '../fields.ts'
import { defineRoute } from '../route.ts'

const position = positionView.meta({ id: 'Position' })

const body = optionalReason('exchange incident')

export const positionRoutes = [
  defineRoute({
    method: 'GET',
    path: '/positions',
    operationId: 'listPositions',
    tag: 'Positions',
    summary: 'Positions, newest first',
    query: z.object({
      status: z
        .enum(POSITION_FILTERS)
        .default('open')
        .meta({ description: 'open: neither closed nor liquidated' }),
      limit: integer(POSITIONS_MAX, { min: 1, max: POSITIONS_MAX }, 'how many'),
    }),
    response: z.array(position),
    example: [POSITION],
    handler: async ({ query }, { engine }) =>
      ok(viewPositions((await engine.fresh()).trading.positions, query)),
  }),
  defineRoute({
    method: 'GET',
    path: '/positions/:position_id',
    operationId: 'getPosition',
    tag: 'Positions',
    summary: 'One position, open or closed',
    params: z.object({ position_id: pathText('the id of the position', POSITION_ID) }),
    response: position,
    example: POSITION,
    problems: ['position.not_found'],
    handler: async ({ params: { position_id } }, { engine }) => {
      const found = await positionOf(engine, position_id)
      return found === null ? unknownPosition() : ok(found)
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/positions/close-all',
    access: 'operator',
    operationId: 'closeAllPositions',
    tag: 'Positions',
    summary: 'Close all open positions at the market',
    description:
      'Works at every level of the kill switch. Positions without a price stay open and are listed in `failed`.',
    isUrgent: true,
    body,
    bodyIsOptional: true,
    response: closedAllView,
    example: { positions: [CLOSED_POSITION], failed: [] },
    handler: async ({ body: given, traceId, writeEntry }, { engine }) => {
      const by = operatorOf(engine.nodeId, given?.reason)
      const entry = { ...writeEntry.entry, reason: given?.reason ?? null }
      const alongside = { ...writeEntry, entry }
      return resultOf(
        await engine.execute({ kind: 'close-all', by }, { traceId, alongside }),
        (events) => viewClosedAll(events, engine.state.trading.positions),
        { isAudited: true },
      )
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/positions/:position_id/close',
    access: 'operator',
    operationId: 'closePosition',
    tag: 'Positions',
    summary: 'Close a position at the market',
    description:
      'Works at every level of the kill switch. With partial fills the position is `closing` until its exit is filled.',
    isUrgent: true,
    params: z.object({ position_id: pathText('the id of the position', POSITION_ID) }),
    body,
    bodyIsOptional: true,
    response: position,
    example: CLOSED_POSITION,
    problems: ['position.not_found', 'position.not_open', 'price.unavailable'],
    handler: async ({ params, body: given, traceId }, { engine }) => {
      const id = positionId(params.position_id)
      const by = operatorOf(engine.nodeId, given?.reason)
      const command = { kind: 'close-position', positionId: id, by } as const
      const outcome = await withLogChecked(engine.log, await engine.execute(command, { traceId }))
      if (outcome.status === 'refused' && outcome.refusal.code === 'position.not_found')
        return unknownPosition()
      return resultOf(outcome, () => {
        const closed = engine.state.trading.positions.get(id)
        assert(closed !== undefined, `position ${id} must be known after it was closed`)
        return viewPosition(closed)
      })
    },
  }),
]

const operatorOf = (operator: string, reason: string | undefined): Operator => ({
  operator,
  surface: 'api',
  ...(reason === undefined ? {} : { note: reason }),
})

/** Clients rely on this exact text. */
const unknownPosition = (): Refused => refused('position.not_found', 'Position not found')
