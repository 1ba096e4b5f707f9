import { z } from 'zod'
import { defineOperatorTool, reasonInput } from '../operator-tool.ts'

export const cancelOrder = defineOperatorTool({
  name: 'cancel_order',
  title: 'Cancel an order',
  input: z.object({
    order_id: z.string().meta({ description: 'of an order that something may still come of' }),
    reason: reasonInput,
  }),
  errors: ['order_not_found', 'order_not_open'],
  command: ({ order_id: orderId, reason }, operator) => ({
    kind: 'cancel-order',
    request: { orderId, operator, reason: reason ?? null, surface: 'api' },
  }),
})
