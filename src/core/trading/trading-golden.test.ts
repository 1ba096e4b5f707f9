import { timestampOf } from '../shared/brand.ts'
import { describe, expect, it } from 'vitest'
import { riskFactsOf } from './risk/account.ts'
import { TradingScenario, payloadOf, typesOf } from './trading.fixture.ts'
import { levelsOf, paperFill, perUsdOf } from './orders/fills.ts'
import { DEFAULT_CONFIGURATION } from '../config/validate.ts'
import { trueConditions, type RiskFacts } from './risk/kill-switch.ts'
import { equityOf } from './risk/account.ts'
import { r9 } from '../shared/numbers.ts'
import {
  quantityFor,
  ratioOf,
  slippedPrice,
  priceFrom,
  priceNumber,
  priceNumberOrNull,
  type Usd,
} from '../shared/money.ts'
import { usdFrom, usdNumber } from '../shared/money.ts'

const OPENING = ['execution.order_submitted.v1', 'execution.order_filled.v1', 'execution.position_opened.v1']

const scenarioAt = (price: number, symbol = 'BTC'): TradingScenario => {
  const scenario = new TradingScenario()
  scenario.bar(symbol, price)
  return scenario
}

const opened = (direction: 'long' | 'short') => {
  const scenario = scenarioAt(100)
  expect(typesOf(scenario.intend({ direction }))).toEqual(OPENING)
  return scenario
}

describe('the size of a position', () => {
  it.each([
    [60, 0.02, 200],
    [75, 0.05, 500],
    [80, 0.05, 500],
    [90, 0.1, 809.375],
    [100, 0.1, 875],
  ])('of conviction %d is %d of equity at most, %d USD', (conviction_score, size_pct, usd) => {
    const events = scenarioAt(100).intend({ conviction_score, size_pct })
    expect(payloadOf(events, 'execution.order_submitted.v1')['size_notional']).toBe(usd)
  })
})

describe('a long of 500 at 100', () => {
  it('opens', () => {
    const scenario = opened('long')
    expect(payloadOf(scenario.log, 'execution.order_filled.v1')).toMatchObject({
      fill_price: 100.05,
      fill_size: 4.99750124,
      notional_usd: 499.999999,
      fee_usd: 0.3,
      remaining_size: 0,
    })
    expect(payloadOf(scenario.log, 'execution.position_opened.v1')).toMatchObject({
      entry_price: 100.05,
      stop_loss: 95.0475,
      take_profit: 110.055,
      loss_at_stop_usd: 25.522358,
      pcs_at_entry: 80,
      cts_at_entry: 5,
      asset: 'BTC',
    })
  })

  it('ends at its target, then another at its stop, and the account adds up', () => {
    const scenario = opened('long')
    scenario.bar('BTC', 105, { high: 112 })
    expect(payloadOf(scenario.log, 'execution.position_closed.v1')['exit_reason']).toBe('take_profit')
    expect(payloadOf(scenario.log, 'execution.position_closed.v1')).toMatchObject({
      exit_price: 109.9999725,
      realized_pnl: 49.095165,
      gross_pnl: 49.725,
    })
    expect(payloadOf(scenario.log, 'alert.target_hit')).toMatchObject({
      realized_pnl: 49.095165,
      take_profit: 110.055,
      repeat: 0,
    })
  })

  it('loses what was said at its stop', () => {
    const scenario = opened('long')
    const events = scenario.bar('BTC', 99, { low: 90 })
    expect(typesOf(events)).toEqual([
      'market.bar.v1',
      'execution.order_submitted.v1',
      'execution.order_filled.v1',
      'execution.position_closed.v1',
      'alert.stop_triggered',
      'learning.outcome.v1',
    ])
    expect(payloadOf(events, 'execution.order_filled.v1')).toMatchObject({
      fill_price: 94.99997625,
      fee_usd: 0.284858,
    })
    expect(payloadOf(events, 'execution.position_closed.v1')).toMatchObject({
      exit_reason: 'stop_loss',
      realized_pnl: -25.822358,
      trigger: { kind: 'bar', price: 95.0475 },
    })
  })

  it('one of each leaves 10023.272807', () => {
    const scenario = new TradingScenario()
    // The second position has the same size in USD, although equity has grown slightly.
    scenario.configure({ risk: { max_position_pct: 0.05 } })
    scenario.bar('BTC', 100)
    scenario.intend()
    scenario.bar('BTC', 105, { high: 112 })
    scenario.bar('BTC', 100)
    scenario.intend({ size_pct: 500 / usdNumber(equityOf(scenario.state.trading)) })
    scenario.bar('BTC', 99, { low: 90 })
    expect(usdNumber(equityOf(scenario.state.trading))).toBe(10_023.272807)
  })
})

describe('a short of 500 at 100', () => {
  it.each([
    [{ low: 88 }, 'take_profit', 89.9999775, 49.204865],
    [{ high: 107 }, 'stop_loss', 104.99997375, -25.877658],
  ])('with %j ends by %s', (range, exit_reason, exit_price, realized_pnl) => {
    const scenario = opened('short')
    expect(payloadOf(scenario.log, 'execution.order_filled.v1')).toMatchObject({
      fill_price: 99.95,
      fill_size: 5.00250125,
    })
    const events = scenario.bar('BTC', 100, range)
    expect(payloadOf(events, 'execution.position_closed.v1')).toMatchObject({
      exit_reason,
      exit_price,
      realized_pnl,
    })
  })
})

it('a gap is left at the open', () => {
  const scenario = scenarioAt(64_000)
  scenario.intend({ conviction_score: 90, size_pct: 0.1 })
  const events = scenario.bar('BTC', 58_500, { open: 58_000 })
  expect(payloadOf(scenario.log, 'execution.order_filled.v1')['fill_size']).toBe(0.01264016)
  expect(payloadOf(events, 'execution.position_closed.v1')).toMatchObject({
    exit_price: 57_971,
    realized_pnl: -77.537293,
    exit_reason: 'stop_loss',
  })
})

it('heat is what all stops would cost', () => {
  const lossOf = (usd: number, mid: number, direction: 'long' | 'short'): bigint => {
    const costs = DEFAULT_CONFIGURATION.execution
    const side = direction === 'long' ? 'buy' : 'sell'
    const price = slippedPrice(priceFrom(mid), side, costs.paper_slippage_bps)
    const fill = paperFill(side, quantityFor(usdFrom(usd), price), priceFrom(mid), costs)
    return levelsOf({ direction, stop_loss_pct: 0.05, take_profit_pct: 0.1 }, fill, costs).lossAtStop
  }
  const losses = lossOf(500, 100, 'long') + lossOf(500, 3000, 'short') + lossOf(200, 150, 'long')
  expect(usdNumber(losses as Usd)).toBe(61.308959)
  expect(r9(ratioOf(losses, usdFrom(10_000)))).toBe(0.006130896)
  const perUsd = (direction: 'long' | 'short'): number =>
    perUsdOf({ direction, stop_loss_pct: 0.05 }, priceFrom(100), DEFAULT_CONFIGURATION.execution).lossAtStop
  expect([r9(perUsd('long')), r9(perUsd('short'))]).toEqual([0.051044715, 0.051155315])
  const scenario = new TradingScenario()
  scenario.bars([
    ['BTC', 100],
    ['ETH', 3000],
  ])
  scenario.intend()
  scenario.intend({ symbol: 'ETH', direction: 'short' })
  const recorded = scenario.log
    .filter(({ type }) => type === 'execution.position_opened.v1')
    .map(({ payload }) => usdFrom(payload['loss_at_stop_usd'] as number))
  expect(recorded.reduce((sum, loss) => sum + loss, 0n)).toBe(scenario.state.trading.book.lossAtStop)
})

it('a partial fill takes its share of each bar', () => {
  const scenario = new TradingScenario({ execution: { paper_partial_fills: true } })
  scenario.bar('BTC', 100)
  const { kelly } = scenario.configuration.risk
  scenario.configure({ risk: { max_position_pct: 1, kelly: { ...kelly, fraction: 1, p: 1 } } })
  // Ten units at 100.05.
  expect(typesOf(scenario.intend({ size_pct: 0.10005, conviction_score: 100 }))).toEqual([OPENING[0]])
  scenario.bar('BTC', 100, { volume: 40 })
  scenario.bar('BTC', 101, { volume: 30 })
  scenario.bar('BTC', 102, { volume: 200 })
  const fills = scenario.log.filter(({ type }) => type === 'execution.order_filled.v1')
  expect(fills.map(({ payload }) => payload['fill_size'])).toEqual([4, 3, 3])
  const [position] = scenario.state.trading.positions.values()
  expect(position).toMatchObject({ status: 'monitoring', holding: { isEntryDone: true } })
  if (position === undefined) throw new Error('nothing was opened')
  expect(usdNumber(position.holding.notional)).toBe(1009.5045)
  expect(usdNumber(position.holding.fees)).toBe(0.605703)
  expect(priceNumber(position.holding.entryPrice)).toBe(100.95045)
  expect(priceNumberOrNull(position.holding.stopLoss)).toBe(95.9029275)
  expect([...scenario.state.trading.intents.values()]).toMatchObject([
    { status: 'filled', positionId: position.id },
  ])
})

describe('funding', () => {
  it.each([
    ['long', 12, 0.054795],
    ['long', -8, -0.03653],
    ['short', 12, -0.054795],
  ] as const)('of a %s at %d %% a year is %d', (direction, funding_annualized, amount_usd) => {
    const scenario = opened(direction)
    // At this price the notional at the mark is 500 again.
    scenario.bar('BTC', direction === 'long' ? 100.05 : 99.95, { funding_annualized })
    const [event] = scenario.do({ kind: 'apply-funding', at: timestampOf('2026-02-20T08:00:00.000Z') })
    expect(event?.payload).toMatchObject({ amount_usd })
    expect(usdNumber(scenario.state.trading.ledger.funding)).toBe(amount_usd)
  })

  it.each([
    ['long', 1, 0.05],
    ['long', -2.5, -0.125],
    ['short', 1, -0.05],
  ] as const)(
    'of a %s at a fixed %d basis points is %d, whatever the market says',
    (direction, bps, amount_usd) => {
      const scenario = opened(direction)
      scenario.configure({ execution: { paper_funding_bps: bps } })
      scenario.bar('BTC', direction === 'long' ? 100.05 : 99.95, { funding_annualized: 77 })
      const [event] = scenario.do({ kind: 'apply-funding', at: timestampOf('2026-02-20T08:00:00.000Z') })
      expect(event?.payload).toMatchObject({ amount_usd })
    },
  )
})

describe('triggers', () => {
  const quiet: RiskFacts = {
    dayLoss: 0,
    drawdown: 0,
    heat: 0,
    lossStreak: 0,
    staleCycles: 0,
    crisisVotes: 0,
    fillDivergence: 0,
    isFlat: true,
  }
  const levelFor = (facts: Partial<RiskFacts>): number =>
    Math.max(
      0,
      ...trueConditions(
        { ...quiet, ...facts },
        DEFAULT_CONFIGURATION.kill_switch,
        DEFAULT_CONFIGURATION.risk,
      ).map(({ to }) => to),
    )

  it.each([
    ['day start 10000, equity 9700', { dayLoss: 300e6 / 10_000e6 }, 1],
    ['day start 10000, equity 9700.01', { dayLoss: 299.99e6 / 10_000e6 }, 0],
    ['peak 12000, equity 8400', { drawdown: 3600e6 / 12_000e6 }, 3],
    ['a fill at 100.5 on 100', { fillDivergence: 0.005 }, 0],
    ['a fill at 100.51 on 100', { fillDivergence: 0.0051 }, 1],
    ['heat', { heat: 0.06 }, 2],
    ['three losses', { lossStreak: 3 }, 2],
    ['two losses', { lossStreak: 2 }, 0],
    ['two crisis votes', { crisisVotes: 2 }, 3],
    ['two stale cycles', { staleCycles: 2 }, 1],
  ])('%s', (_, facts, level) => {
    expect(levelFor(facts)).toBe(level)
  })

  it('see how far a fill was from its reference', () => {
    const divergenceAt = (paper_slippage_bps: number): number => {
      const scenario = new TradingScenario({ execution: { paper_slippage_bps } })
      scenario.bar('BTC', 100)
      scenario.intend()
      return riskFactsOf(scenario.state.trading, scenario.now).fillDivergence
    }
    expect([divergenceAt(50), divergenceAt(51)]).toEqual([0.005, 0.0051])
  })
})
