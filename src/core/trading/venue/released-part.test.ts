import { describe, expect, it } from 'vitest'
import { priceFrom, quantityFrom, usdFrom } from '../../shared/money.ts'
import { canonicalSymbol } from '../../shared/symbol.ts'
import { viewPosition } from '../../views/positions.ts'
import { equityOf } from '../risk/account.ts'
import type { VenueHolding } from './account-differences.ts'
import { openPositionsOf } from '../positions/book.ts'
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
import { payloadOf, typesOf, type TradingScenario } from '../trading.fixture.ts'

const holding = (quantity: number): VenueHolding => ({
  symbol: 'BTC',
  direction: 'long',
  quantity: quantityFrom(quantity),
  entryPrice: priceFrom(100),
  leverage: 1,
})

const sweep = (scenario: TradingScenario, positions: readonly VenueHolding[]) => {
  const quietSymbols = [canonicalSymbol('BTC')]
  return scenario.do({
    kind: 'compare-account',
    sweep: { venue: VENUE, positions, liquidations: [], quietSymbols },
  })
}

describe('a position of which the venue holds a part', () => {
  const resume = { kind: 'resume-live', operator: 'op', reason: 'sold by hand', surface: 'cli' } as const
  const only = (scenario: TradingScenario) => {
    const [position, ...others] = openPositionsOf(scenario.state.trading)
    if (position === undefined || others.length > 0) throw new Error('not one position')
    return position
  }

  /** A position of 4.975 whose stop rests at the venue, of which 3 are then sold there manually. */
  const soldInPart = () => {
    const scenario = liveScenario()
    scenario.do(checkedVenue(true, ['BTC', 'ETH'], true))
    const entry = enterLive(scenario)
    const stop = onlyOrder(scenario)
    report(scenario, stop, reportOf('open'))
    sweep(scenario, [holding(1.975)])
    return { scenario, entry, stop, before: only(scenario) }
  }

  it('keeps what is left of the position, with its stop at the smaller quantity', () => {
    const { scenario, stop, before } = soldInPart()
    const equity = equityOf(scenario.state.trading)
    const events = scenario.do(resume)
    expect(typesOf(events)).not.toContain('execution.position_closed.v1')
    const after = only(scenario)
    expect(after).toMatchObject({ id: before.id, status: before.status })
    expect(viewPosition(after)).toMatchObject({
      quantity: 1.975,
      stop_loss: viewPosition(before).stop_loss,
      take_profit: viewPosition(before).take_profit,
    })
    expect(equityOf(scenario.state.trading)).toBe(equity)
    expect(scenario.state.trading.book.lossAtStop).toBeLessThan(before.holding.lossAtStop)
    // The old stop stays until the new one rests.
    expect(typesOf(events)).not.toContain('execution.cancel_requested.v1')
    const next = [...scenario.state.trading.orders.open.values()].find(({ id }) => id !== stop.id)
    expect(next).toMatchObject({ purpose: stop.purpose, quantity: quantityFrom(1.975) })
    if (next === undefined) throw new Error('there is no stop')
    report(scenario, next, reportOf('open'))
    expect(typesOf(scenario.do({ kind: 'keep-protective-stops' }))).toEqual(['execution.cancel_requested.v1'])
    // Venue and log agree again.
    expect(sweep(scenario, [holding(1.975)])).toEqual([])
  })

  it('leaves with what is left, and its result is that of all of it', () => {
    const { scenario } = soldInPart()
    scenario.do(resume)
    scenario.do({ kind: 'close-all', by: { operator: 'op', surface: 'cli' } })
    const exit = [...scenario.state.trading.orders.open.values()].find(
      ({ purpose }) => purpose.kind === 'exit',
    )
    expect(exit?.quantity).toBe(quantityFrom(1.975))
    if (exit === undefined) throw new Error('there is no exit')
    const events = report(scenario, exit, reportOf('filled', [fillOf('x1', 110, 1.975)]))
    // 3 at 100, the mark when they were released, and 1.975 at 110.
    expect(payloadOf(events, 'execution.position_closed.v1')).toMatchObject({ gross_pnl: 19.75 })
    expect(equityOf(scenario.state.trading)).toBe(usdFrom(10_000 + 19.75 - 0.02))
  })

  it('ends at its stop with what is left', () => {
    const { scenario } = soldInPart()
    scenario.do(resume)
    scenario.bar('BTC', 80)
    const exit = [...scenario.state.trading.orders.open.values()].find(
      ({ purpose }) => purpose.kind === 'exit',
    )
    expect(exit?.quantity).toBe(quantityFrom(1.975))
  })

  it('releases by what the venue held last, not by what it held first', () => {
    const { scenario, before } = soldInPart()
    expect(typesOf(sweep(scenario, [holding(0.975)]))).toContain('execution.venue_differs.v1')
    expect(sweep(scenario, [holding(0.975)])).toEqual([])
    // The quantity was bought back, so nothing is missing any more.
    expect(typesOf(sweep(scenario, [holding(4.975)]))).toEqual(['execution.venue_differs.v1'])
    expect(sweep(scenario, [holding(4.975)])).toEqual([])
    scenario.do(resume)
    expect(viewPosition(only(scenario))).toEqual(viewPosition(before))
  })

  it('of two positions releases the newer one first', () => {
    const scenario = liveScenario({ execution: { max_positions_per_symbol: 2 } })
    enterLive(scenario)
    const first = only(scenario)
    scenario.wait(1000)
    scenario.intend()
    const second = onlyOrder(scenario)
    const quantity = Number(second.quantity) / 1e8
    report(scenario, second, reportOf('filled', [fillOf('t2', 100, quantity, 0)]))
    sweep(scenario, [holding(4)])
    expect(payloadOf(scenario.do(resume), 'execution.position_closed.v1')).toMatchObject({
      position_id: second.positionId,
    })
    expect(viewPosition(only(scenario))).toMatchObject({ id: first.id, quantity: 4 })
    expect(sweep(scenario, [holding(4)])).toEqual([])
  })
})
