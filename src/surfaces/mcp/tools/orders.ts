import { orderId } from '../../../core/shared/brand.ts'
import { z } from 'zod'
import { ORDER_FILTERS, orderView, viewOrders } from '../../../core/views/orders.ts'
import { defineOperatorTool, reasonInput } from '../operator-tool.ts'
import { defineTool, found, itemLimit, itemsOf, READS } from '../tool.ts'

const getOrders = defineTool({
  title: 'Orders',
  annotations: READS,
  input: z.object({
    status: z.enum(ORDER_FILTERS).default('all').meta({ description: 'only those with this status' }),
    limit: itemLimit(),
  }),
  output: itemsOf(orderView),
  call: async ({ input, dependencies: { engine } }) =>
    found(viewOrders((await engine.fresh()).trading.orders, input)),
})

const cancelOrder = defineOperatorTool({
  name: 'cancel_order',
  title: 'Cancel an order',
  input: z.object({
    order_id: z.string().meta({ description: 'of an order that is not final' }),
    reason: reasonInput,
  }),
  errors: ['order_not_found', 'order_not_open'],
  command: ({ order_id: id, reason }, operator) => ({
    kind: 'cancel-order',
    request: { orderId: orderId(id), operator, reason: reason ?? null, surface: 'api' },
  }),
})

export const orderTools = { cancel_order: cancelOrder, get_orders: getOrders }
