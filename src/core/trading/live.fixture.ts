import { Desk } from './trading.fixture.ts'
import type { Configuration } from '../config/schema.ts'
import type { Order } from './orders.ts'
import { unitsFrom, usdFrom } from '../shared/money.ts'
import { DAY_MS } from '../shared/time.ts'
import type { VenueFill, VenueReport } from './venue-report.ts'

export const VENUE = 'testvenue'

type Sections = { readonly [Section in keyof Configuration]?: Partial<Configuration[Section]> }

/** Traded on paper long ago, confirmed and checked: an account whose orders are real. */
export const liveDesk = (changes: Sections = {}): Desk => {
  const desk = new Desk({ kill_switch: { l2_loss_streak: 0 } })
  desk.bar('BTC', 100)
  desk.intend()
  desk.do({ kind: 'close-all', by: { operator: 'op', surface: 'cli' } })
  desk.wait(20 * DAY_MS)
  desk.configure({
    ...changes,
    execution: {
      mode: 'live',
      venue: VENUE,
      require_approval: false,
      confirmation_threshold_usd: 1e6,
      ...changes.execution,
    },
  })
  desk.do({
    kind: 'confirm-live',
    confirmation: { venue: VENUE, operator: 'op', configHash: 'hash', equity: usdFrom(10_000) },
  })
  desk.do(checkedVenue())
  desk.bar('BTC', 100)
  return desk
}

export const checkedVenue = (ok = true, symbols: readonly string[] = ['BTC', 'ETH']) =>
  ({
    kind: 'record-venue-check',
    check: {
      venue: VENUE,
      checks: [{ name: 'reachable', ok, detail: 'it answers' }],
      symbols: symbols.map((symbol) => ({
        symbol,
        steps: {
          quantityStep: unitsFrom(0.001),
          quantityMin: unitsFrom(0.002),
          notionalMin: usdFrom(5),
          priceStep: unitsFrom(0.01),
        },
      })),
    },
  }) as const

/** The one order under way. */
export const onlyOrder = (desk: Desk): Order => {
  const [order, ...others] = [...desk.state.trading.orders.open.values()]
  if (order === undefined || others.length > 0) throw new Error(`${1 + others.length} orders are open`)
  return order
}

export const fillOf = (id: string, price: number, quantity: number, fee = 0.01): VenueFill => ({
  venueTradeId: id,
  price: unitsFrom(price),
  quantity: unitsFrom(quantity),
  feeUsd: usdFrom(fee),
  atMs: 0,
})

/** `filled`: what the order says of itself, if that is more than its trades add up to. */
export const reportOf = (
  status: VenueReport['status'],
  fills: readonly VenueFill[] = [],
  filled: number | null = null,
): VenueReport => ({
  venueOrderId: 'v1',
  status,
  filledQuantity:
    filled === null ? fills.reduce((sum, { quantity }) => sum + quantity, 0n) : unitsFrom(filled),
  fills,
})

/** Tells what the venue says of an order. */
export const report = (desk: Desk, order: Order, told: VenueReport, lookups: number | null = null) =>
  desk.do({ kind: 'record-report', orderId: order.id, report: told, lookups })

/** An entry that the venue filled completely at the given price. */
export const enterLive = (desk: Desk, price = 100): Order => {
  desk.intend()
  const order = onlyOrder(desk)
  const quantity = Number(order.quantity) / 1e8
  report(desk, order, reportOf('filled', [fillOf(`t-${order.id}`, price, quantity)]))
  return order
}
