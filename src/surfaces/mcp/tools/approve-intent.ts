import { judgementInput, judgementOf } from '../judgement.ts'
import { defineOperatorTool } from '../operator-tool.ts'

export const approveIntent = defineOperatorTool({
  name: 'approve_intent',
  title: 'Approve an intent',
  input: judgementInput,
  errors: ['intent_not_found', 'intent_not_awaiting', 'kill_switch_active'],
  command: (said, operator) => ({ kind: 'approve-intent', decision: judgementOf(said, operator) }),
})
