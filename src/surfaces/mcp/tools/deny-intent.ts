import { judgementInput, judgementOf } from '../judgement.ts'
import { defineOperatorTool } from '../operator-tool.ts'

export const denyIntent = defineOperatorTool({
  name: 'deny_intent',
  title: 'Deny an intent',
  input: judgementInput,
  errors: ['intent_not_found', 'intent_not_awaiting'],
  command: (said, operator) => ({ kind: 'deny-intent', decision: judgementOf(said, operator) }),
})
