import { z } from 'zod'
import { INTENT_FILTERS, intentView, viewIntent, viewIntents } from '../../../core/views/orders.ts'
import { answerTo, ok, type Answer } from '../answers.ts'
import { DENIED_INTENT, INTENT, TRADE_INTENT_ID } from '../examples-trading.ts'
import { integer, pathText } from '../fields.ts'
import { defineRoute, type Parts } from '../route.ts'
import type { Service } from '../service.ts'

const tag = 'Intents'
const intent = intentView.meta({ id: 'Intent' })
const params = z.object({ id: pathText('the id of the intent', TRADE_INTENT_ID) })
const decision = (note: string) =>
  z
    .object({ note: z.string().trim().min(1).max(500).optional().meta({ description: 'why, for the log' }) })
    .meta({ examples: [{ note }] })
    .optional()

export const intentRoutes = [
  defineRoute({
    method: 'GET',
    path: '/intents',
    access: 'bearer',
    operationId: 'listIntents',
    tag,
    summary: 'Intents of the brain, newest first',
    description: 'With what became of them and the reasons for it. Those that ended are kept for a while.',
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
    description: 'It is executed at once, with all checks of any entry: the answer says what became of it.',
    params,
    body: decision('size is fine'),
    bodyIsOptional: true,
    response: intent,
    example: INTENT,
    problems: ['intent.not_found', 'intent.not_awaiting', 'kill_switch.active', 'store.busy'],
    handler: (parts, service) => judge('approve-intent', parts, service),
  }),
  defineRoute({
    method: 'POST',
    path: '/intents/:id/deny',
    access: 'operator',
    operationId: 'denyIntent',
    tag,
    summary: 'Deny an intent that waits for approval',
    params,
    body: decision('too large before the weekend'),
    bodyIsOptional: true,
    response: intent,
    example: DENIED_INTENT,
    problems: ['intent.not_found', 'intent.not_awaiting', 'store.busy'],
    handler: (parts, service) => judge('deny-intent', parts, service),
  }),
]

type JudgementDependencies = Parts<
  { readonly id: string },
  unknown,
  unknown,
  { readonly note?: string | undefined } | undefined
>

const judge = async (
  kind: 'approve-intent' | 'deny-intent',
  { params: { id }, body, traceId }: JudgementDependencies,
  { engine }: Service,
): Promise<Answer<z.input<typeof intent>>> => {
  const command = {
    kind,
    decision: { intentId: id, operator: engine.nodeId, note: body?.note ?? null, surface: 'api' },
  } as const
  return answerTo(await engine.execute(command, { traceId }), () => {
    const known = engine.state.trading.intents.get(id)
    if (known === undefined) throw new Error('an intent was judged and is gone')
    return viewIntent(known)
  })
}
