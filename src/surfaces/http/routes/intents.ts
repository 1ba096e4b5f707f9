import { intentId } from '../../../core/shared/brand.ts'
import { z } from 'zod'
import { assert } from '../../../core/shared/assert.ts'
import { INTENT_FILTERS, viewIntents } from '../../../core/views/orders.ts'
import { intentView, viewIntent } from '../../../core/views/orders.ts'
import { withLogChecked } from '../../../engine/queries/trading-records.ts'
import { resultOf, ok, type RouteResult } from '../results.ts'
import { DENIED_INTENT, INTENT, TRADE_INTENT_ID } from '../examples-trading.ts'
import { integer, pathText, reasonText } from '../fields.ts'
import { defineRoute, type RequestInput, type Service } from '../route.ts'

const tag = 'Intents'
const intent = intentView.meta({ id: 'Intent' })
const params = z.object({ id: pathText('the id of the intent', TRADE_INTENT_ID) })
const optionalNote = (example: string) =>
  z
    .object({ note: reasonText().optional() })
    .meta({ examples: [{ note: example }] })
    .optional()

export const intentRoutes = [
  defineRoute({
    method: 'GET',
    path: '/intents',
    operationId: 'listIntents',
    tag,
    summary: 'Intents of the brain, newest first',
    description: 'With their status and reasons: all that have not ended, and the newest ended ones.',
    query: z.object({
      status: z.enum(INTENT_FILTERS).default('all').meta({ description: 'only those with this status' }),
      limit: integer(100, { min: 1, max: 500 }, 'how many'),
    }),
    response: z.array(intent),
    example: [INTENT],
    handler: async ({ query }, { engine }) => ok(viewIntents((await engine.fresh()).trading.intents, query)),
  }),
  defineRoute({
    method: 'POST',
    path: '/intents/:id/approve',
    access: 'operator',
    operationId: 'approveIntent',
    tag,
    summary: 'Approve an intent that waits for it',
    description: 'Executes it at once, with the checks of every entry; the response has its new status.',
    params,
    body: optionalNote('size is fine'),
    bodyIsOptional: true,
    response: intent,
    example: INTENT,
    problems: ['intent.not_found', 'intent.not_awaiting', 'kill_switch.active'],
    handler: (input, service) => decideIntent('approve-intent', input, service),
  }),
  defineRoute({
    method: 'POST',
    path: '/intents/:id/deny',
    access: 'operator',
    operationId: 'denyIntent',
    tag,
    summary: 'Deny an intent that waits for approval',
    params,
    body: optionalNote('too large before the weekend'),
    bodyIsOptional: true,
    response: intent,
    example: DENIED_INTENT,
    problems: ['intent.not_found', 'intent.not_awaiting'],
    handler: (input, service) => decideIntent('deny-intent', input, service),
  }),
]

type DecisionInput = Pick<
  RequestInput<{ readonly id: string }, unknown, unknown, { readonly note?: string | undefined } | undefined>,
  'params' | 'body' | 'traceId'
>

const decideIntent = async (
  kind: 'approve-intent' | 'deny-intent',
  { params: { id }, body, traceId }: DecisionInput,
  { engine }: Service,
): Promise<RouteResult<z.input<typeof intent>>> => {
  const decision = {
    intentId: intentId(id),
    operator: engine.nodeId,
    note: body?.note ?? null,
    surface: 'api',
  } as const
  const outcome = await engine.execute({ kind, decision }, { traceId })
  return resultOf(await withLogChecked(engine.log, outcome), () => {
    const decided = engine.state.trading.intents.get(intentId(id))
    assert(decided !== undefined, `intent ${id} must be known after the decision`)
    return viewIntent(decided)
  })
}
