import { TradingScenario } from './trading.fixture.ts'
import type { Configuration } from '../config/schema.ts'
import type { Order } from './orders/orders.ts'
import { priceFrom, quantityFrom, sumOf, usdFrom } from '../shared/money.ts'
import { DAY_MS } from '../shared/time.ts'
import type { VenueFill, VenueReport } from './venue/venue-orders.ts'

export const VENUE = 'testvenue'

type Sections = { readonly [Section in keyof Configuration]?: Partial<Configuration[Section]> }

/** An account with real orders: confirmed, checked, and with its paper period completed. */
export const liveScenario = (changes: Sections = {}): TradingScenario => {
  const scenario = new TradingScenario({ kill_switch: { l2_loss_streak: 0 } })
  scenario.bar('BTC', 100)
  scenario.intend()
  scenario.do({ kind: 'close-all', by: { operator: 'op', surface: 'cli' } })
  scenario.wait(20 * DAY_MS)
  scenario.configure({
    ...changes,
    execution: {
      mode: 'live',
      venue: VENUE,
      require_approval: false,
      confirmation_threshold_usd: 1e6,
      ...changes.execution,
    },
  })
  scenario.do({
    kind: 'confirm-live',
    confirmation: { venue: VENUE, operator: 'op', configHash: 'hash', equity: usdFrom(10_000) },
  })
  scenario.do(checkedVenue())
  scenario.bar('BTC', 100)
  quoteVenue(scenario, { BTC: 100 })
  return scenario
}

/** Prices at the venue itself. */
export const quoteVenue = (scenario: TradingScenario, prices: Readonly<Record<string, number>>): void => {
  const quotes = Object.entries(prices).map(([symbol, price]) => ({ symbol, price: priceFrom(price) }))
  scenario.do({ kind: 'record-venue-quotes', quotes: { venue: VENUE, quotes } })
}

export const checkedVenue = (ok = true, symbols: readonly string[] = ['BTC', 'ETH'], restingStops = false) =>
  ({
    kind: 'record-venue-check',
    check: {
      venue: VENUE,
      checks: [{ name: 'reachable', ok, detail: 'it answers' }],
      restingStops,
      symbols: symbols.map((symbol) => ({
        symbol,
        steps: {
          quantityStep: quantityFrom(0.001),
          quantityMin: quantityFrom(0.002),
          notionalMin: usdFrom(5),
          priceStep: priceFrom(0.01),
        },
      })),
    },
  }) as const

/** The only open order. */
export const onlyOrder = (scenario: TradingScenario): Order => {
  const [order, ...others] = [...scenario.state.trading.orders.open.values()]
  if (order === undefined || others.length > 0) throw new Error(`${1 + others.length} orders are open`)
  return order
}

export const fillOf = (id: string, price: number, quantity: number, fee = 0.01): VenueFill => ({
  venueTradeId: id,
  price: priceFrom(price),
  quantity: quantityFrom(quantity),
  feeUsd: usdFrom(fee),
  atMs: 0,
})

/** `filled`: quantity that the order reports, if it exceeds the sum of its trades. */
export const reportOf = (
  status: VenueReport['status'],
  fills: readonly VenueFill[] = [],
  filled: number | null = null,
): VenueReport => ({
  venueOrderId: 'v1',
  status,
  filledQuantity: filled === null ? sumOf(fills.map(({ quantity }) => quantity)) : quantityFrom(filled),
  fills,
})

/** Records a report of the venue about an order. */
export const report = (
  scenario: TradingScenario,
  order: Order,
  reported: VenueReport,
  lookups: number | null = null,
) => scenario.do({ kind: 'record-report', orderId: order.id, report: reported, lookups })

/** An entry that the venue filled completely at the given price. */
export const enterLive = (scenario: TradingScenario, price = 100): Order => {
  scenario.intend()
  const order = onlyOrder(scenario)
  const quantity = Number(order.quantity) / 1e8
  report(scenario, order, reportOf('filled', [fillOf(`t-${order.id}`, price, quantity)]))
  return order
}
