import { intentId } from '../../../core/shared/brand.ts'
import { z } from 'zod'
import { INTENT_FILTERS, viewIntents } from '../../../core/views/orders.ts'
import { intentView } from '../../../core/views/orders.ts'
import { defineOperatorTool, reasonInput } from '../operator-tool.ts'
import { LIMITS_NOTE } from '../tool-result.ts'
import { defineTool, found, itemLimit, itemsOf, READS } from '../tool.ts'

const getIntents = defineTool({
  title: 'Intents',
  advice: LIMITS_NOTE,
  annotations: READS,
  input: z.object({
    status: z.enum(INTENT_FILTERS).default('all').meta({ description: 'only those with this status' }),
    limit: itemLimit(),
  }),
  output: itemsOf(intentView),
  call: async ({ input, dependencies: { engine } }) =>
    found(viewIntents((await engine.fresh()).trading.intents, input)),
})

const decisionInput = z.object({
  intent_id: z.string().meta({ description: 'of an intent that waits for approval' }),
  note: reasonInput,
})

const decisionOf = ({ intent_id: id, note }: z.output<typeof decisionInput>, operator: string) =>
  ({ intentId: intentId(id), operator, note: note ?? null, surface: 'api' }) as const

const approveIntent = defineOperatorTool({
  name: 'approve_intent',
  title: 'Approve an intent',
  input: decisionInput,
  errors: ['intent_not_found', 'intent_not_awaiting', 'kill_switch_active'],
  command: (input, operator) => ({ kind: 'approve-intent', decision: decisionOf(input, operator) }),
})

const denyIntent = defineOperatorTool({
  name: 'deny_intent',
  title: 'Deny an intent',
  input: decisionInput,
  errors: ['intent_not_found', 'intent_not_awaiting'],
  command: (input, operator) => ({ kind: 'deny-intent', decision: decisionOf(input, operator) }),
})

export const intentTools = {
  approve_intent: approveIntent,
  deny_intent: denyIntent,
  get_intents: getIntents,
}
