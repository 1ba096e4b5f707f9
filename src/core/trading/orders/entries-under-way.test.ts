import { describe, expect, it } from 'vitest'
import { notionalOf, priceFrom, sumOf, usdFrom, type Usd } from '../../shared/money.ts'
import { accountStatusOf } from '../risk/account.ts'
import {
  checkedVenue,
  enterLive,
  fillOf,
  liveScenario,
  quoteVenue,
  report,
  reportOf,
} from '../live.fixture.ts'
import { payloadOf, TradingScenario, typesOf } from '../trading.fixture.ts'

const SYMBOLS = ['BTC', 'ETH', 'SOL', 'XRP', 'ADA', 'DOT'] as const

type Sections = Parameters<typeof liveScenario>[0]

/** Entries in six symbols, decided before the venue has filled any of them, and then filled. */
const sixAtOnce = (changes: Sections, leverage = 2): TradingScenario => {
  const scenario = liveScenario(changes)
  scenario.do(checkedVenue(true, SYMBOLS))
  scenario.bars(SYMBOLS.map((symbol) => [symbol, 100]))
  quoteVenue(scenario, Object.fromEntries(SYMBOLS.map((symbol) => [symbol, 100])))
  for (const symbol of SYMBOLS) scenario.intend({ symbol, size_pct: 1, sizing: 'fixed', leverage })
  for (const order of scenario.state.trading.orders.open.values()) {
    const quantity = Number(order.quantity) / 1e8
    report(scenario, order, reportOf('filled', [fillOf(`t-${order.id}`, 100, quantity)]))
  }
  return scenario
}

const statusOf = (scenario: TradingScenario) => accountStatusOf(scenario.state.trading, scenario.now)

describe('entries that are decided before earlier ones are filled', () => {
  it('keep the limit of heat together', () => {
    const scenario = sixAtOnce({ risk: { max_position_pct: 0.5, max_leverage: 10 } }, 5)
    const { heat } = statusOf(scenario)
    expect(heat).toBeGreaterThan(0.03)
    expect(heat).toBeLessThanOrEqual(0.06 * 0.9)
    expect(scenario.state.trading.killSwitch.level).toBe(0)
  })

  it('keep the limit of exposure together', () => {
    const scenario = sixAtOnce({
      risk: { max_position_pct: 0.5, max_portfolio_heat_pct: 1 },
      kill_switch: CALM,
    })
    const { exposure, equity } = statusOf(scenario)
    expect(Number(exposure) / Number(equity)).toBeGreaterThan(1.9)
    expect(Number(exposure) / Number(equity)).toBeLessThanOrEqual(2)
  })

  it('bind no more margin together than there is', () => {
    const scenario = sixAtOnce(
      { risk: { max_position_pct: 0.5, max_portfolio_heat_pct: 1 }, kill_switch: CALM },
      1,
    )
    const { margin, equity } = statusOf(scenario)
    expect(margin).toBeGreaterThan(usdFrom(9000))
    expect(margin).toBeLessThanOrEqual(equity)
  })

  it('leave what is canceled to others', () => {
    const scenario = liveScenario({
      risk: { max_position_pct: 1, max_portfolio_heat_pct: 1, max_leverage: 1 },
    })
    scenario.do(checkedVenue(true, SYMBOLS))
    scenario.bars(SYMBOLS.map((symbol) => [symbol, 100]))
    quoteVenue(scenario, Object.fromEntries(SYMBOLS.map((symbol) => [symbol, 100])))
    const whole = { size_pct: 1, sizing: 'fixed', leverage: 1 } as const
    scenario.intend({ symbol: 'BTC', ...whole })
    expect(typesOf(scenario.intend({ symbol: 'ETH', ...whole }))).toEqual(['execution.order_failed.v1'])
    for (const order of scenario.state.trading.orders.open.values())
      report(scenario, order, reportOf('canceled'))
    expect(typesOf(scenario.intend({ symbol: 'ETH', ...whole }))).toEqual(['execution.order_submitted.v1'])
  })

  it('count with what is not filled yet of them', () => {
    const scenario = liveScenario({
      risk: { max_position_pct: 1, max_portfolio_heat_pct: 1, max_leverage: 1 },
    })
    scenario.do(checkedVenue(true, SYMBOLS))
    scenario.bars(SYMBOLS.map((symbol) => [symbol, 100]))
    quoteVenue(scenario, Object.fromEntries(SYMBOLS.map((symbol) => [symbol, 100])))
    scenario.intend({ symbol: 'BTC', size_pct: 0.6, sizing: 'fixed', leverage: 1 })
    const [order] = [...scenario.state.trading.orders.open.values()]
    if (order === undefined) throw new Error('no order')
    report(scenario, order, reportOf('partial', [fillOf('t1', 100, 1)]))
    scenario.intend({ symbol: 'ETH', size_pct: 0.6, sizing: 'fixed', leverage: 1 })
    expect(sizesOf(scenario)).toBeLessThanOrEqual(usdFrom(10_000))
    expect(sizesOf(scenario)).toBeGreaterThan(usdFrom(9500))
  })
})

describe('an entry at a venue against what is held there', () => {
  const NETTED = { execution: { max_positions_per_symbol: 3 } }

  it('is refused, for the venue nets both: no order that only reduces could close either', () => {
    const scenario = liveScenario(NETTED)
    enterLive(scenario)
    expect(
      payloadOf(scenario.intend({ direction: 'short' }), 'execution.order_failed.v1')['reasons'],
    ).toEqual(['duplicate_position'])
    expect(typesOf(scenario.intend())).toEqual(['execution.order_submitted.v1'])
  })

  it('is refused while the other one is under way', () => {
    const scenario = liveScenario(NETTED)
    scenario.intend()
    expect(
      payloadOf(scenario.intend({ direction: 'short' }), 'execution.order_failed.v1')['reasons'],
    ).toEqual(['duplicate_position'])
  })

  it('is held beside it on paper', () => {
    const scenario = new TradingScenario(NETTED)
    scenario.bar('BTC', 100)
    scenario.intend()
    expect(typesOf(scenario.intend({ direction: 'short' }))).toContain('execution.position_opened.v1')
  })
})

const CALM = { l2_portfolio_heat_pct: 1, l2_loss_streak: 0 }

const sizesOf = ({ state }: TradingScenario): Usd =>
  sumOf([...state.trading.orders.open.values()].map(({ quantity }) => notionalOf(priceFrom(100), quantity)))
