import { describe, expect, it } from 'vitest'
import { minus, plus, priceFrom, quantityFrom, usdFrom, usdNumber } from '../../shared/money.ts'
import { canonicalSymbol } from '../../shared/symbol.ts'
import { DAY_MS } from '../../shared/time.ts'
import { accountStatusOf, equityOf } from '../risk/account.ts'
import type { AccountSweep, VenueHolding } from './account-differences.ts'
import { enterLive, fillOf, liveScenario, onlyOrder, report, reportOf, VENUE } from '../live.fixture.ts'
import { payloadOf, typesOf, type TradingScenario } from '../trading.fixture.ts'

/** Quantity that the entry of `enterLive` holds. */
const HELD = 4.975

const holding = (changes: Partial<VenueHolding> = {}): VenueHolding => ({
  symbol: 'BTC',
  direction: 'long',
  quantity: quantityFrom(HELD),
  entryPrice: priceFrom(100),
  leverage: 1,
  ...changes,
})

/** Records a balance at the venue, without the unrealized result of its positions. */
const balanceOf = (
  scenario: TradingScenario,
  usd: number,
  positions: readonly VenueHolding[] = [],
  changes: Partial<AccountSweep> = {},
) =>
  scenario.do({
    kind: 'record-capital',
    sweep: {
      venue: VENUE,
      balance: usdFrom(usd),
      positions,
      liquidations: [],
      quietSymbols: ['BTC', 'ETH'].map(canonicalSymbol),
      ...changes,
    },
  })

const statusOf = (scenario: TradingScenario) => accountStatusOf(scenario.state.trading, scenario.now)

/** An account without positions that has lost a tenth since its peak, today. */
const afterLoss = (): TradingScenario => {
  const scenario = liveScenario({
    kill_switch: { l1_daily_loss_pct: 0.15, l2_loss_streak: 0 },
    risk: { daily_loss_limit_pct: 0.15, max_drawdown_pct: 0.15 },
  })
  enterLive(scenario)
  scenario.do({ kind: 'close-all', by: { operator: 'op', surface: 'cli' } })
  const exit = onlyOrder(scenario)
  // The entry cost 497.5 USD and a fee of 0.01. With the exit price and its fee, the loss is 1000 USD.
  report(scenario, exit, reportOf('filled', [fillOf('t-exit', 0.01, HELD, 502.53975)]))
  scenario.bar('BTC', 100)
  return scenario
}

describe('a balance that trades, fees and funding explain', () => {
  it('says nothing, with or without a position, at any price', () => {
    const scenario = liveScenario()
    expect(balanceOf(scenario, 10_000)).toEqual([])
    enterLive(scenario)
    scenario.bar('BTC', 104)
    expect(balanceOf(scenario, 9999.99, [holding()])).toEqual([])
  })

  it('says nothing where the venue averages entries and has realized more, or less, than we did', () => {
    const scenario = liveScenario()
    enterLive(scenario)
    // The log has an entry price of 100. The venue counts 90 and has realized the difference already.
    const averaged = holding({ entryPrice: priceFrom(90) })
    expect(balanceOf(scenario, 9999.99 - HELD * 10, [averaged])).toEqual([])
  })

  it('may differ by what is estimated: less than half a percent of equity', () => {
    for (const [balance, difference] of [
      [10_049.99, 49.99],
      [9950.01, -49.99],
    ] as const) {
      const scenario = liveScenario()
      const events = balanceOf(scenario, balance)
      expect(typesOf(events)).toEqual(['execution.balance_differs.v1'])
      expect(payloadOf(events, 'execution.balance_differs.v1')).toEqual({
        venue: VENUE,
        unexplained_usd: difference,
      })
      expect(equityOf(scenario.state.trading)).toBe(usdFrom(10_000))
      expect(balanceOf(scenario, balance)).toEqual([])
    }
    expect(typesOf(balanceOf(liveScenario(), 10_050))).toContain('execution.capital_moved.v1')
  })
})

describe('a balance that cannot be compared', () => {
  it.each([
    ['of another account', {}, { venue: 'elsewhere' }],
    ['of a venue that reports none', {}, { balance: undefined }],
    ['while a symbol with a position is not quiet', { holds: true }, { quietSymbols: [] }],
    ['while the positions differ', { holds: true }, { positions: [] }],
  ])('is left alone %s', (_, { holds = false }: { holds?: boolean }, changes) => {
    const scenario = liveScenario()
    if (holds) enterLive(scenario)
    expect(balanceOf(scenario, 20_000, holds ? [holding()] : [], changes)).toEqual([])
  })

  it('is left alone while an order is under way', () => {
    const scenario = liveScenario()
    scenario.intend()
    expect(balanceOf(scenario, 20_000)).toEqual([])
  })
})

describe('money moved by hand', () => {
  it('is recorded once, said once, and belongs to equity', () => {
    const scenario = liveScenario()
    enterLive(scenario)
    const before = equityOf(scenario.state.trading)
    const events = balanceOf(scenario, 14_999.99, [holding()])
    expect(typesOf(events)).toEqual(['execution.capital_moved.v1', 'alert.execution'])
    expect(payloadOf(events, 'execution.capital_moved.v1')).toEqual({ venue: VENUE, amount_usd: 5000 })
    expect(payloadOf(events, 'alert.execution')).toMatchObject({
      cause: 'capital_moved',
      message: expect.stringContaining('5000.00 USD more') as string,
    })
    expect(equityOf(scenario.state.trading)).toBe(plus(before, usdFrom(5000)))
    expect(scenario.state.trading.ledger).toMatchObject({
      startBalance: usdFrom(10_000),
      moved: usdFrom(5000),
      realized: 0n,
    })
    expect(balanceOf(scenario, 14_999.99, [holding()])).toEqual([])
  })

  it('is neither a loss of the day nor a drawdown when it is withdrawn', () => {
    const scenario = liveScenario()
    enterLive(scenario)
    const { dayLoss, drawdown } = statusOf(scenario)
    balanceOf(scenario, 4999.99, [holding()])
    scenario.bar('BTC', 100)
    expect(statusOf(scenario)).toMatchObject({ equity: usdFrom(4999.99) })
    expect(statusOf(scenario).dayLoss).toBeCloseTo(dayLoss, 8)
    expect(statusOf(scenario).drawdown).toBeCloseTo(drawdown, 8)
    expect(scenario.state.trading.killSwitch.level).toBe(0)
  })

  it.each([
    ['withdrawn', 4500],
    ['deposited', 18_000],
  ])('neither adds to a loss nor makes up for it when it is %s', (_, balance) => {
    const scenario = afterLoss()
    expect(statusOf(scenario)).toMatchObject({ equity: usdFrom(9000), dayLoss: 0.1, drawdown: 0.1 })
    balanceOf(scenario, balance)
    expect(statusOf(scenario)).toMatchObject({ equity: usdFrom(balance), dayLoss: 0.1, drawdown: 0.1 })
    scenario.bar('BTC', 100)
    expect(statusOf(scenario)).toMatchObject({ dayLoss: 0.1, drawdown: 0.1 })
  })

  it('leaves nothing to compare with when all of it is withdrawn, and begins anew with a deposit', () => {
    const scenario = afterLoss()
    balanceOf(scenario, 0)
    expect(statusOf(scenario)).toMatchObject({ equity: 0n, dayLoss: 0, drawdown: 0 })
    balanceOf(scenario, 2000)
    scenario.bar('BTC', 100)
    expect(statusOf(scenario)).toMatchObject({ peak: usdFrom(2000), dayLoss: 0, drawdown: 0 })
  })

  it('bounds the next entry: limits are shares of what is there', () => {
    const sizeAfter = (balance: number): number => {
      const scenario = liveScenario()
      balanceOf(scenario, balance)
      return Number(payloadOf(scenario.intend(), 'execution.order_submitted.v1')['size_notional'])
    }
    expect(sizeAfter(5000) / sizeAfter(10_000)).toBeCloseTo(0.5, 2)
  })

  it('comes off again when it turns out to be explained', () => {
    const scenario = liveScenario()
    balanceOf(scenario, 9000)
    balanceOf(scenario, 10_000)
    const { ledger } = scenario.state.trading
    expect(minus(ledger.cash, ledger.startBalance)).toBe(ledger.moved)
    expect(usdNumber(ledger.moved)).toBe(0)
  })
})

/** The venue holds nothing of a position, as two sweeps of the account found. */
const missingPosition = (): TradingScenario => {
  const scenario = liveScenario({ kill_switch: { l1_daily_loss_pct: 0.01, l2_loss_streak: 0 } })
  enterLive(scenario)
  const quietSymbols = ['BTC', 'ETH'].map(canonicalSymbol)
  scenario.do({
    kind: 'compare-account',
    sweep: { venue: VENUE, positions: [], liquidations: [], quietSymbols },
  })
  return scenario
}

const resume = (scenario: TradingScenario) =>
  scenario.do({ kind: 'resume-live', operator: 'op', reason: 'looked', surface: 'cli' })

describe('money that is lost with a position', () => {
  it('counts as a loss while the position is missing, and raises the kill switch', () => {
    const scenario = missingPosition()
    // Bought for 497.5 USD, and sold for 300 USD by the venue.
    const events = balanceOf(scenario, 9802.49)
    expect(payloadOf(events, 'execution.loss_unexplained.v1')).toEqual({ venue: VENUE, amount_usd: -197.5 })
    expect(payloadOf(events, 'alert.execution')).toMatchObject({
      cause: 'loss_unexplained',
      message: expect.stringContaining('lost 197.50 USD') as string,
    })
    expect(scenario.state.trading.killSwitch.level).toBe(1)
    expect(statusOf(scenario)).toMatchObject({ equity: usdFrom(9802.49) })
    expect(balanceOf(scenario, 9802.49)).toEqual([])
    resume(scenario)
    expect(statusOf(scenario)).toMatchObject({ equity: usdFrom(9802.49) })
    expect(balanceOf(scenario, 9802.49)).toEqual([])
  })

  it('counts as a loss for a day after the position was released, and as a withdrawal later', () => {
    const lossAfter = (waitMs: number): readonly string[] => {
      const scenario = missingPosition()
      resume(scenario)
      scenario.wait(waitMs)
      return typesOf(balanceOf(scenario, 9802.49))
    }
    expect(lossAfter(DAY_MS - 1000)).toContain('execution.loss_unexplained.v1')
    expect(lossAfter(DAY_MS)).toContain('execution.capital_moved.v1')
  })

  it('comes off again, and no more than it, when a liquidation is listed later', () => {
    const scenario = missingPosition()
    balanceOf(scenario, 9802.49)
    scenario.wait(1000)
    const trade = {
      venueTradeId: 'late',
      symbol: 'BTC',
      direction: 'long',
      quantity: quantityFrom(HELD),
      price: priceFrom(300 / HELD),
      feeUsd: usdFrom(0),
      atMs: Date.parse(scenario.now),
    } as const
    const quietSymbols = ['BTC', 'ETH'].map(canonicalSymbol)
    scenario.do({
      kind: 'compare-account',
      sweep: { venue: VENUE, positions: [], liquidations: [trade], quietSymbols },
    })
    resume(scenario)
    const events = balanceOf(scenario, 9802.49)
    expect(payloadOf(events, 'execution.loss_unexplained.v1')['amount_usd']).toBeCloseTo(197.5, 2)
    expect(typesOf(events)).not.toContain('execution.capital_moved.v1')
    expect(usdNumber(statusOf(scenario).equity)).toBeCloseTo(9802.49, 2)
  })

  it('is a loss too where the venue lists a liquidation that no position has', () => {
    const scenario = liveScenario()
    const liquidation = {
      venueTradeId: 'unknown',
      symbol: 'BTC',
      direction: 'long',
      quantity: quantityFrom(1),
      price: priceFrom(50),
      feeUsd: usdFrom(0),
      atMs: Date.parse(scenario.now) - 60_000,
    } as const
    const types = typesOf(balanceOf(scenario, 9800, [], { liquidations: [liquidation] }))
    expect(types).toContain('execution.loss_unexplained.v1')
  })

  it('is no deposit when it is a gain on a missing position', () => {
    const scenario = missingPosition()
    expect(balanceOf(scenario, 10_200)).toEqual([])
  })
})
