import { describe, expect, it } from 'vitest'
import { TradingScenario } from '../trading/trading.fixture.ts'
import { orderId } from '../shared/brand.ts'
import { usdNumber } from '../shared/money.ts'
import type { OpenOrder } from '../trading/orders/orders.ts'
import { viewClosedAll } from './positions.ts'
import { intentView, orderView, viewIntents, viewOrders } from './orders.ts'
import { portfolioView, viewPortfolio } from './portfolio.ts'

const ALL = { status: 'all', limit: 100 } as const
const BY = { operator: 'node', surface: 'api' } as const

const traded = (): TradingScenario => {
  const scenario = new TradingScenario()
  scenario.bar('BTC', 100)
  scenario.intend({ cycle_id: 'first' })
  scenario.bar('BTC', 101)
  return scenario
}

describe('the portfolio', () => {
  it('adds up, and knows where it was', () => {
    const scenario = traded()
    const view = viewPortfolio(scenario.state, scenario.configuration, scenario.now)
    expect(portfolioView.strict().parse(view)).toEqual(view)
    expect(view.equity_usd).toBeCloseTo(view.cash_usd + view.unrealized_pnl_usd, 6)
    expect(view.unrealized_pnl_usd).toBe(usdNumber(scenario.state.trading.book.unrealized))
    expect(view).toMatchObject({ open_positions: 1, realized_pnl_usd: 0, loss_streak: 0 })
    scenario.do({ kind: 'close-all', by: BY })
    const after = viewPortfolio(scenario.state, scenario.configuration, scenario.now)
    expect(after).toMatchObject({ open_positions: 0, exposure_usd: 0, margin_usd: 0, heat: 0 })
    expect(after.cash_usd).toBe(after.equity_usd)
    expect(after.equity_usd).toBeCloseTo(10_000 + after.realized_pnl_usd, 6)
  })
})

describe('intents and orders', () => {
  it('are shown newest first, with what became of them', () => {
    const scenario = traded()
    scenario.intend({ cycle_id: 'second' })
    const intents = viewIntents(scenario.state.trading.intents, ALL)
    expect(intents).toMatchObject([
      { intent_id: 'second', status: 'rejected', position_id: null },
      { intent_id: 'first', status: 'filled', reasons: [], approved: false },
    ])
    expect(intents[0]?.reasons).not.toEqual([])
    for (const intent of intents) expect(intentView.strict().parse(intent)).toEqual(intent)
    scenario.wait(1000)
    const closed = viewClosedAll(scenario.do({ kind: 'close-all', by: BY }), scenario.state.trading.positions)
    expect(closed).toMatchObject({ positions: [{ status: 'closed', exit_reason: 'manual' }], failed: [] })
    const orders = viewOrders(scenario.state.trading.orders, ALL)
    expect(orders).toMatchObject([
      { reduce_only: true, side: 'sell', intent_id: null, status: 'filled' },
      { reduce_only: false, side: 'buy', intent_id: 'first', order_id: intents[1]?.order_id },
    ])
    for (const order of orders) expect(orderView.strict().parse(order)).toEqual(order)
    expect(viewOrders(scenario.state.trading.orders, { status: 'open', limit: 100 })).toEqual([])
    expect(viewOrders(scenario.state.trading.orders, { status: 'filled', limit: 1 })).toEqual(
      orders.slice(0, 1),
    )
  })

  it('leave no open order out for newer ones that have ended', () => {
    const scenario = traded()
    scenario.wait(1000)
    scenario.do({ kind: 'close-all', by: BY })
    const { orders } = scenario.state.trading
    const [first] = orders.ended.values()
    const waiting = {
      ...first,
      id: orderId('waiting'),
      status: 'open',
      submittedAt: '2020-01-01T00:00:00.000Z',
    }
    const open = orders.open.set(waiting.id, waiting as unknown as OpenOrder)
    const shown = viewOrders({ ...orders, open }, { status: 'all', limit: 2 })
    expect(shown).toMatchObject([{ reduce_only: true, status: 'filled' }, { order_id: 'waiting' }])
  })
})
