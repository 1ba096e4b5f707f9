import { canonicalSymbol } from '../../shared/symbol.ts'
import { positionId } from '../../shared/brand.ts'
import { timestampAt } from '../../shared/time.ts'
import { describe, expect, it } from 'vitest'
import type { VenueHolding, VenueLiquidation } from './account-differences.ts'
import { TradingScenario, payloadOf, typesOf } from '../trading.fixture.ts'
import {
  checkedVenue,
  enterLive,
  fillOf,
  liveScenario,
  onlyOrder,
  report,
  reportOf,
  VENUE,
} from '../live.fixture.ts'
import { openPositionsOf } from '../positions/book.ts'
import { equityOf } from '../risk/account.ts'
import { priceFrom, quantityFrom, usdFrom } from '../../shared/money.ts'

const holding = (quantity: number, changes: Partial<VenueHolding> = {}): VenueHolding => ({
  symbol: 'BTC',
  direction: 'long',
  quantity: quantityFrom(quantity),
  entryPrice: priceFrom(100),
  leverage: 1,
  ...changes,
})

const sweep = (
  scenario: TradingScenario,
  positions: readonly VenueHolding[],
  liquidations: readonly VenueLiquidation[] = [],
  symbols: readonly string[] = ['BTC', 'ETH'],
) => {
  const quietSymbols = symbols.map(canonicalSymbol)
  return scenario.do({
    kind: 'compare-account',
    sweep: { venue: VENUE, positions, liquidations, quietSymbols },
  })
}

describe('what the venue holds', () => {
  it('is what we hold', () => {
    const scenario = liveScenario()
    enterLive(scenario)
    expect(sweep(scenario, [holding(4.975)])).toEqual([])
  })

  it('is not looked at in a symbol with an order under way, or that was not quiet', () => {
    const scenario = liveScenario()
    scenario.intend()
    expect(sweep(scenario, [holding(3)])).toEqual([])
    expect(sweep(liveScenario(), [holding(3)], [], ['ETH'])).toEqual([])
  })

  it('is adopted where we do not know it: flagged, told, and nothing is opened any more', () => {
    const scenario = liveScenario()
    const events = sweep(scenario, [holding(3, { direction: 'short' })])
    expect(typesOf(events)).toEqual([
      'execution.position_adopted.v1',
      'alert.execution',
      'execution.reduce_only.v1',
    ])
    const [adopted] = openPositionsOf(scenario.state.trading)
    expect(adopted).toMatchObject({
      status: 'open',
      terms: { origin: { kind: 'adopted' }, direction: 'short', platform: VENUE },
    })
    expect(payloadOf(scenario.intend({ symbol: 'ETH' }), 'execution.order_failed.v1')['reasons']).toContain(
      'venue_unavailable',
    )
    // The difference is recorded once.
    expect(sweep(scenario, [holding(3, { direction: 'short' })])).toEqual([])
  })

  it.each([
    ['its entry', 120, 360],
    ['its price now', 80, 300],
  ])('that is adopted risks all of it, by %s', (_, entry, risked) => {
    const scenario = liveScenario()
    const events = sweep(scenario, [holding(3, { entryPrice: priceFrom(entry) })])
    expect(payloadOf(events, 'execution.position_adopted.v1')).toMatchObject({ loss_at_stop_usd: risked })
    expect(scenario.state.trading.book.lossAtStop).toBe(usdFrom(risked))
  })

  it('that is adopted raises the switch when it is larger than all risk that is allowed', () => {
    const scenario = liveScenario()
    sweep(scenario, [holding(7)])
    expect(scenario.state.trading.killSwitch.level).toBe(2)
  })

  it('is adopted as far as it is more than ours', () => {
    const scenario = liveScenario()
    enterLive(scenario)
    expect(payloadOf(sweep(scenario, [holding(5.975)]), 'execution.position_adopted.v1')).toMatchObject({
      quantity: 1,
    })
    expect(sweep(scenario, [holding(5.975)])).toEqual([])
  })

  it('is never closed by the engine, and always by an operator', () => {
    const scenario = liveScenario()
    sweep(scenario, [holding(0.5)])
    expect(typesOf(scenario.bar('BTC', 80))).not.toContain('execution.order_submitted.v1')
    const [adopted] = openPositionsOf(scenario.state.trading)
    const by = { operator: 'op', surface: 'cli' } as const
    scenario.do({ kind: 'close-position', positionId: positionId(adopted?.id ?? ''), by })
    expect(onlyOrder(scenario)).toMatchObject({
      purpose: { kind: 'exit' },
      quantity: quantityFrom(0.5),
      side: 'sell',
    })
  })

  it('is told once where it is less than ours, and let go when an operator has looked', () => {
    const scenario = liveScenario()
    enterLive(scenario)
    const events = sweep(scenario, [])
    expect(payloadOf(events, 'execution.venue_differs.v1')).toMatchObject({
      our_quantity: 4.975,
      venue_quantity: 0,
    })
    expect(payloadOf(events, 'alert.execution')).toMatchObject({ cause: 'position_missing' })
    expect(scenario.state.trading.venue.reduceOnly).not.toBeNull()
    expect(sweep(scenario, [])).toEqual([])
    const resume = { kind: 'resume-live', operator: 'op', reason: 'sold by hand', surface: 'cli' } as const
    expect(payloadOf(scenario.do(resume), 'execution.position_closed.v1')).toMatchObject({
      exit_reason: 'manual',
      closed_by: 'op',
    })
    expect(scenario.state.trading.venue).toMatchObject({ reduceOnly: null, missing: [] })
    expect(scenario.refusalOf(resume)).toBe('live.not_reduce_only')
  })

  it('ends a position that it liquidated, with its price and fee', () => {
    const scenario = liveScenario()
    enterLive(scenario)
    const liquidation = {
      venueTradeId: 'l1',
      symbol: 'BTC',
      direction: 'long',
      quantity: quantityFrom(4.975),
      price: priceFrom(60),
      feeUsd: usdFrom(2),
      atMs: Date.parse(scenario.now) + 1,
    } as const
    const events = sweep(scenario, [], [liquidation])
    expect(payloadOf(events, 'execution.position_closed.v1')).toMatchObject({
      exit_reason: 'liquidated',
      mode: 'live',
      fees_usd: 2.01,
    })
    expect([...scenario.state.trading.positions.values()].at(-1)?.status).toBe('liquidated')
    expect(equityOf(scenario.state.trading)).toBe(10_000_000_000n - 199_000_000n - 2_010_000n)
    expect(scenario.state.trading.venue.reduceOnly).toBeNull()
  })
})

describe('a liquidation', () => {
  const tradeOf = (venueTradeId: string, quantity: number, price: number, fee: number, atMs: number) =>
    ({
      venueTradeId,
      symbol: 'BTC',
      direction: 'long',
      quantity: quantityFrom(quantity),
      price: priceFrom(price),
      feeUsd: usdFrom(fee),
      atMs,
    }) as const

  it('in several trades ends the position with all of them', () => {
    const scenario = liveScenario()
    enterLive(scenario)
    const atMs = Date.parse(scenario.now) + 1
    const trades = [tradeOf('l2', 2.975, 59, 1, atMs + 1), tradeOf('l1', 2, 60, 2, atMs)]
    const events = sweep(scenario, [], trades)
    expect(typesOf(events).filter((type) => type.startsWith('execution.'))).toEqual([
      'execution.order_filled.v1',
      'execution.order_filled.v1',
      'execution.position_closed.v1',
    ])
    expect(payloadOf(events, 'execution.position_closed.v1')).toMatchObject({
      exit_reason: 'liquidated',
      exit_price: 59.40201005,
      fees_usd: 3.01,
    })
    expect(scenario.state.trading.venue.reduceOnly).toBeNull()
    const lost = 2 * 40 + 2.975 * 41 + 3.01
    expect(equityOf(scenario.state.trading)).toBe(usdFrom(10_000 - lost))
  })

  it('in trades of one moment takes them in the order of their ids', () => {
    for (const order of [
      ['l1', 'l2'],
      ['l2', 'l1'],
    ]) {
      const scenario = liveScenario()
      enterLive(scenario)
      const atMs = Date.parse(scenario.now) + 1
      const trades = order.map((id) => tradeOf(id, id === 'l1' ? 2 : 2.975, 60, 1, atMs))
      const events = sweep(scenario, [], trades)
      const filled = events.filter(({ type }) => type === 'execution.order_filled.v1')
      expect(filled.map(({ payload }) => payload)).toMatchObject([
        { venue_trade_id: 'l1', fill_size: 2, remaining_size: 2.975 },
        { venue_trade_id: 'l2', fill_size: 2.975, remaining_size: 0 },
      ])
    }
  })

  it('of two positions ends each with its part, and its fee is counted once', () => {
    const scenario = liveScenario({ execution: { max_positions_per_symbol: 2 } })
    enterLive(scenario)
    const cash = scenario.state.trading.ledger.cash
    scenario.intend()
    const second = onlyOrder(scenario)
    const quantity = Number(second.quantity) / 1e8
    report(scenario, second, reportOf('filled', [fillOf('t2', 100, quantity, 0)]))
    const atMs = Date.parse(scenario.now) + 1
    sweep(scenario, [], [tradeOf('l1', 4.975 + quantity, 60, 4, atMs)])
    expect(openPositionsOf(scenario.state.trading)).toEqual([])
    expect(scenario.state.trading.ledger.cash).toBe(cash - usdFrom(40 * (4.975 + quantity) + 4))
  })

  it('of a part leaves the rest to an operator', () => {
    const scenario = liveScenario()
    enterLive(scenario)
    const events = sweep(scenario, [holding(2.975)], [tradeOf('l1', 2, 60, 2, Date.parse(scenario.now) + 1)])
    expect(typesOf(events)).toContain('execution.venue_differs.v1')
    expect(openPositionsOf(scenario.state.trading)).toHaveLength(1)
  })
})

describe('a fill that we hear of late', () => {
  /** A fill that is reported ten seconds later. */
  const late = () => {
    const scenario = liveScenario()
    scenario.intend()
    const order = onlyOrder(scenario)
    const filledMs = Date.parse(scenario.now) + 1000
    scenario.wait(10_000)
    const fill = { ...fillOf('t1', 100, Number(order.quantity) / 1e8), atMs: filledMs }
    report(scenario, order, reportOf('filled', [fill]))
    return { scenario, filledMs }
  }

  it('opened its position when the venue says so: what it charged meanwhile counts', () => {
    const { scenario, filledMs } = late()
    expect(openPositionsOf(scenario.state.trading)[0]?.terms.openedAt).toBe(timestampAt(filledMs))
    const payment = { id: 'f1', symbol: 'BTC', paidUsd: usdFrom(0.5), atMs: filledMs + 2000 }
    scenario.do({ kind: 'record-funding', venue: VENUE, payment })
    expect(scenario.state.trading.ledger.funding).toBe(usdFrom(0.5))
  })

  it('opened its position when the venue says so: a liquidation meanwhile ends it', () => {
    const { scenario, filledMs } = late()
    const liquidation = {
      venueTradeId: 'l1',
      symbol: 'BTC',
      direction: 'long',
      quantity: quantityFrom(4.975),
      price: priceFrom(60),
      feeUsd: usdFrom(2),
      atMs: filledMs + 2000,
    } as const
    expect(typesOf(sweep(scenario, [], [liquidation]))).toContain('execution.position_closed.v1')
    expect(scenario.state.trading.venue.reduceOnly).toBeNull()
  })

  it('is not believed to be older than its order, or from the future', () => {
    const opened = (offsetMs: number) => {
      const scenario = liveScenario()
      scenario.intend()
      const order = onlyOrder(scenario)
      const fill = fillOf('t1', 100, Number(order.quantity) / 1e8)
      report(scenario, order, reportOf('filled', [{ ...fill, atMs: Date.parse(scenario.now) + offsetMs }]))
      return (
        Date.parse(openPositionsOf(scenario.state.trading)[0]?.terms.openedAt ?? '') -
        Date.parse(scenario.now)
      )
    }
    expect(opened(-3_600_000)).toBe(0)
    expect(opened(3_600_000)).toBe(0)
    expect(opened(-2000)).toBe(-2000)
  })

  it('and a payment just before its close count, although our clock is a little behind', () => {
    const scenario = liveScenario()
    enterLive(scenario)
    scenario.wait(60_000)
    scenario.do({ kind: 'close-all', by: { operator: 'op', surface: 'cli' } })
    const exit = onlyOrder(scenario)
    report(scenario, exit, reportOf('filled', [fillOf('t2', 100, Number(exit.quantity) / 1e8)]))
    const payment = { id: 'f1', symbol: 'BTC', paidUsd: usdFrom(0.5), atMs: Date.parse(scenario.now) + 2000 }
    scenario.do({ kind: 'record-funding', venue: VENUE, payment })
    expect(scenario.state.trading.ledger.funding).toBe(usdFrom(0.5))
  })
})

describe('going live', () => {
  const confirmation = { venue: VENUE, operator: 'op', configHash: 'h', equity: usdFrom(777) }

  it('needs an empty table, and begins with what the venue holds', () => {
    const scenario = new TradingScenario()
    scenario.bar('BTC', 100)
    scenario.intend()
    expect(scenario.refusalOf({ kind: 'confirm-live', confirmation })).toBe('live.positions_open')
    scenario.do({ kind: 'close-all', by: { operator: 'op', surface: 'cli' } })
    scenario.do({ kind: 'confirm-live', confirmation })
    expect(equityOf(scenario.state.trading)).toBe(777_000_000n)
    expect(scenario.state.trading.ledger).toMatchObject({ account: VENUE, fees: 0n, hasTraded: false })
  })

  it('changes nothing in the ledger when it is confirmed again', () => {
    const scenario = liveScenario()
    enterLive(scenario)
    const before = scenario.state.trading.ledger
    scenario.do({ kind: 'confirm-live', confirmation })
    expect(scenario.state.trading.ledger).toBe(before)
  })

  it('tells a check only when it says something new', () => {
    const scenario = liveScenario()
    expect(scenario.do(checkedVenue())).toEqual([])
    expect(typesOf(scenario.do(checkedVenue(false)))).toEqual(['execution.venue_checked.v1'])
    expect(typesOf(scenario.do(checkedVenue(false, ['ETH'])))).toEqual(['execution.venue_checked.v1'])
  })
})
