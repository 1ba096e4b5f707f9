import { z } from 'zod'
import { ORDER_FILTERS, orderView, viewOrders } from '../../../core/views/orders.ts'
import { howMany } from '../how-many.ts'
import { defineTool, found, itemsOf, READS } from '../tool.ts'

export const getOrders = defineTool({
  title: 'Orders',
  annotations: READS,
  input: z.object({
    status: z.enum(ORDER_FILTERS).default('all').meta({ description: 'only those with this status' }),
    limit: howMany,
  }),
  output: itemsOf(orderView),
  call: async ({ input, house: { engine } }) =>
    found(viewOrders((await engine.fresh()).trading.orders, input)),
})
