import { z } from 'zod'
import type { Operator } from '../../../core/trading/exits.ts'
import {
  closedAllView,
  POSITION_FILTERS,
  positionView,
  viewClosedAll,
  viewPosition,
  viewPositions,
} from '../../../core/views/positions.ts'
import { positionOf, POSITIONS_MAX } from '../../../engine/queries/positions.ts'
import { answerTo, ok, refused, type Refused } from '../answers.ts'
import { POSITION, POSITION_ID } from '../examples.ts'
import { CLOSED_POSITION } from '../examples-trading.ts'
import { integer, pathText } from '../fields.ts'
import { defineRoute } from '../route.ts'

const position = positionView.meta({ id: 'Position' })

const wish = z
  .object({
    reason: z.string().trim().min(1).max(500).optional().meta({ description: 'why, for the log' }),
  })
  .meta({ examples: [{ reason: 'exchange incident' }] })
  .optional()

export const positionRoutes = [
  defineRoute({
    method: 'GET',
    path: '/positions',
    access: 'bearer',
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
    access: 'bearer',
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
    description: 'At every level of the kill switch. What has no price stays open and is named.',
    isUrgent: true,
    body: wish,
    bodyIsOptional: true,
    response: closedAllView,
    example: { positions: [CLOSED_POSITION], failed: [] },
    problems: ['store.busy'],
    handler: async ({ body, traceId, writeEntry }, { engine }) => {
      const by = operatorOf(engine.nodeId, body?.reason)
      const entry = { ...writeEntry.entry, reason: body?.reason ?? null }
      const alongside = { ...writeEntry, entry }
      return answerTo(
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
      'At every level of the kill switch. With partial fills the position is `closing` until its exit is filled.',
    isUrgent: true,
    params: z.object({ position_id: pathText('the id of the position', POSITION_ID) }),
    body: wish,
    bodyIsOptional: true,
    response: position,
    example: CLOSED_POSITION,
    problems: ['position.not_found', 'position.not_open', 'price.unavailable', 'store.busy'],
    handler: async ({ params: { position_id: positionId }, body, traceId }, { engine }) => {
      const by = operatorOf(engine.nodeId, body?.reason)
      const outcome = await engine.execute({ kind: 'close-position', positionId, by }, { traceId })
      if (outcome.status === 'refused' && outcome.refusal.code === 'position.not_found')
        return unknownPosition()
      return answerTo(outcome, () => {
        const closed = engine.state.trading.positions.get(positionId)
        if (closed === undefined) throw new Error('a position was closed and is gone')
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

/** In these words everywhere. */
const unknownPosition = (): Refused => refused('position.not_found', 'Position not found')
