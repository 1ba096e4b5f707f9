import { z } from 'zod'
import { assert } from '../../../core/shared/assert.ts'
import { intentId } from '../../../core/shared/brand.ts'
import { INTENT_FILTERS, intentView, viewIntent, viewIntents } from '../../../core/views/orders.ts'
import { decideIntent, reasonText } from '../../operator-actions.ts'
import { aboutPast } from '../as-of.ts'
import { CYCLE, CYCLE_ID, EVENT_ID, ORDER_ID } from '../examples.ts'
import { integer, pathText } from '../fields.ts'
import { ok } from '../results.ts'
import { route, routes, type Service } from '../route.ts'

const TRADE_INTENT_ID = CYCLE.intents[0].intent_id

const INTENT = {
  ...CYCLE.intents[0],
  cycle_id: CYCLE_ID,
  conviction_id: EVENT_ID,
  intended_price: 100,
  approval_required: true,
  approved: true,
  order_id: ORDER_ID,
} as const

const DENIED_INTENT = {
  ...INTENT,
  status: 'rejected',
  reasons: ['approval_denied'],
  approved: false,
  position_id: null,
  order_id: null,
} as const

const intent = intentView.meta({ id: 'Intent' })
const params = z.object({ id: pathText('the id of the intent', TRADE_INTENT_ID) })
const optionalNote = (example: string) =>
  z
    .object({ note: reasonText().optional() })
    .meta({ examples: [{ note: example }] })
    .optional()

export const intentRoutes = routes('Intents', {
  listIntents: route('GET', '/intents', 'read', {
    summary: 'Intents of the brain, newest first',
    description: 'With their status and reasons: all that have not ended, and the newest ended ones.',
    response: z.array(intent),
    example: [INTENT],
    ...aboutPast({
      query: {
        status: z.enum(INTENT_FILTERS).default('all').meta({ description: 'only those with this status' }),
        limit: integer(100, { min: 1, max: 500 }, 'how many'),
      },
      answer: async ({ reader }, { query }) => ok(viewIntents((await reader.fresh()).trading.intents, query)),
    }),
  }),
  approveIntent: route('POST', '/intents/:id/approve', 'operator', {
    summary: 'Approve an intent that waits for it',
    description: 'Executes it at once, with the checks of every entry; the response has its new status.',
    params,
    body: optionalNote('size is fine'),
    response: intent,
    example: INTENT,
    problems: ['intent.not_found', 'intent.not_awaiting', 'kill_switch.active'],
    handler: ({ params: { id }, body, execute }, { engine }) =>
      execute(decideIntent('approve-intent', id, body?.note, engine.nodeId), () => decided(engine, id)),
  }),
  denyIntent: route('POST', '/intents/:id/deny', 'operator', {
    summary: 'Deny an intent that waits for approval',
    params,
    body: optionalNote('too large before the weekend'),
    response: intent,
    example: DENIED_INTENT,
    problems: ['intent.not_found', 'intent.not_awaiting'],
    handler: ({ params: { id }, body, execute }, { engine }) =>
      execute(decideIntent('deny-intent', id, body?.note, engine.nodeId), () => decided(engine, id)),
  }),
})

const decided = ({ state }: Service['engine'], id: string) => {
  const found = state.trading.intents.get(intentId(id))
  assert(found !== undefined, `intent ${id} must be known after the decision`)
  return viewIntent(found)
}
