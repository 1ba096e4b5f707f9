import { z } from 'zod'
import { POSITION_FILTERS, positionView, viewPositions } from '../../../core/views/positions.ts'
import { positionOf, POSITIONS_MAX } from '../../../engine/queries/positions.ts'
import { ok, refused } from '../answers.ts'
import { POSITION, POSITION_ID } from '../examples.ts'
import { integer, pathText } from '../fields.ts'
import { defineRoute } from '../route.ts'

const position = positionView.meta({ id: 'Position' })

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
    handler: async ({ query }, { engine }) => ok(viewPositions((await engine.fresh()).positions, query)),
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
      return found === null ? refused('position.not_found', 'Position not found') : ok(found)
    },
  }),
]
