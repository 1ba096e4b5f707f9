import { z } from 'zod'
import type { IntentDecision } from '../../core/trading/intents.ts'
import { reasonInput } from './operator-tool.ts'

export const judgementInput = z.object({
  intent_id: z.string().meta({ description: 'of an intent that waits for approval' }),
  note: reasonInput,
})

export const judgementOf = (
  { intent_id: intentId, note }: z.output<typeof judgementInput>,
  operator: string,
): IntentDecision => ({ intentId, operator, note: note ?? null, surface: 'api' })
