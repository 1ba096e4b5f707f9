import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../shared/json.ts'
import { quantityFrom, quantityNumber } from '../../shared/money.ts'
import { canonicalSymbol } from '../../shared/symbol.ts'
import { checkedVenue, fillOf, liveScenario, report, reportOf, VENUE } from '../live.fixture.ts'
import { isEntry, isExit, isProtectiveStop, type OpenOrder } from '../orders/orders.ts'
import { payloadOf, typesOf, type TradingScenario } from '../trading.fixture.ts'

/** A venue at which stops can rest. */
const scenarioWithStops = (): TradingScenario => {
  const scenario = liveScenario()
  scenario.do(checkedVenue(true, ['BTC', 'ETH'], true))
  return scenario
}

const open = (scenario: TradingScenario, which: (order: OpenOrder) => boolean): readonly OpenOrder[] =>
  [...scenario.state.trading.orders.open.values()].filter(which)

const only = (scenario: TradingScenario, which: (order: OpenOrder) => boolean): OpenOrder => {
  const [order, ...others] = open(scenario, which)
  if (order === undefined || others.length > 0) throw new Error(`${1 + others.length} such orders are open`)
  return order
}

const positionOf = (scenario: TradingScenario) => {
  const found = [...scenario.state.trading.positions.values()].find(({ terms }) => terms.platform === VENUE)
  if (found === undefined) throw new Error('no position at the venue')
  return found
}

/** Opens a position whose stop rests at the venue. */
const enter = (scenario: TradingScenario): OpenOrder => {
  scenario.intend()
  const entry = only(scenario, isEntry)
  report(scenario, entry, reportOf('filled', [fillOf('e1', 100, quantityNumber(entry.quantity))]))
  return rest(scenario)
}

const rest = (scenario: TradingScenario): OpenOrder => {
  report(scenario, only(scenario, isProtectiveStop), reportOf('open'))
  return only(scenario, isProtectiveStop)
}

const submittedIn = (events: readonly { readonly type: string; readonly payload: JsonObject }[]) =>
  events.filter(({ type }) => type === 'execution.order_submitted.v1').map(({ payload }) => payload)

describe('a protective stop', () => {
  it('is ordered in the batch that opens the position: reduce-only, at its stop, for all of it', () => {
    const scenario = scenarioWithStops()
    scenario.intend()
    const entry = only(scenario, isEntry)
    const events = report(scenario, entry, reportOf('filled', [fillOf('e1', 100, 4.975)]))
    expect(payloadOf(events, 'execution.order_submitted.v1')).toMatchObject({
      venue: VENUE,
      type: 'stop_market',
      side: 'sell',
      quantity: 4.975,
      trigger_price: 95,
      reduce_only: true,
      exit_reason: null,
    })
    expect(positionOf(scenario).status).not.toBe('closing')
  })

  it.each([
    ['the venue cannot hold stops', () => liveScenario()],
    [
      'it is switched off',
      () => {
        const scenario = scenarioWithStops()
        scenario.configure({ execution: { venue_stops: false } })
        return scenario
      },
    ],
  ])('is not ordered where %s', (_, begin) => {
    const scenario = begin()
    scenario.intend()
    report(scenario, only(scenario, isEntry), reportOf('filled', [fillOf('e1', 100, 4.975)]))
    expect(open(scenario, isProtectiveStop)).toEqual([])
  })

  it('follows a position that grows: the new one rests before the old one is canceled', () => {
    const scenario = scenarioWithStops()
    scenario.intend()
    const entry = only(scenario, isEntry)
    report(scenario, entry, reportOf('partial', [fillOf('e1', 100, 2)]))
    const first = rest(scenario)
    expect(quantityNumber(first.quantity)).toBe(2)
    report(scenario, entry, reportOf('filled', [fillOf('e1', 100, 2), fillOf('e2', 102, 2.975)]))
    const [second] = open(scenario, (order) => isProtectiveStop(order) && order.id !== first.id)
    if (second?.purpose.kind !== 'protective_stop') throw new Error('no second stop')
    expect(quantityNumber(second.quantity)).toBe(4.975)
    expect(second.purpose.triggerPrice).toBe(positionOf(scenario).holding.stopLoss)
    expect(scenario.do({ kind: 'keep-protective-stops' })).toEqual([])
    report(scenario, second, reportOf('open'))
    const events = scenario.do({ kind: 'keep-protective-stops' })
    expect(payloadOf(events, 'execution.cancel_requested.v1')).toMatchObject({
      order_id: first.id,
      reason: 'stop_replaced',
    })
    expect(scenario.do({ kind: 'keep-protective-stops' })).toEqual([])
  })

  it('closes the position when the venue fills it, with its fills, fees and reason', () => {
    const scenario = scenarioWithStops()
    const stop = enter(scenario)
    const events = report(scenario, stop, reportOf('filled', [fillOf('x1', 94.5, 4.975, 0.5)]))
    expect(typesOf(events)).toContain('execution.venue_stop_triggered.v1')
    expect(payloadOf(events, 'execution.position_closed.v1')).toMatchObject({
      exit_reason: 'stop_loss',
      exit_price: 94.5,
      fees_usd: 0.51,
      gross_pnl: -27.3625,
      trigger: { kind: 'venue', price: 95 },
    })
    expect(typesOf(events)).toContain('alert.stop_triggered')
    expect(scenario.state.trading.orders.open.size).toBe(0)
  })

  it('that fills a part leaves the rest to an exit', () => {
    const scenario = scenarioWithStops()
    const stop = enter(scenario)
    const part = report(scenario, stop, reportOf('canceled', [fillOf('x1', 94, 1)]))
    expect(payloadOf(part, 'alert.execution')).toMatchObject({ cause: 'exit_failed' })
    scenario.wait(1000)
    scenario.do({ kind: 'retry-exits' })
    const exit = only(scenario, isExit)
    expect(quantityNumber(exit.quantity)).toBe(3.975)
    const events = report(scenario, exit, reportOf('filled', [fillOf('x2', 93, 3.975)]))
    expect(payloadOf(events, 'execution.position_closed.v1')).toMatchObject({ exit_reason: 'stop_loss' })
  })

  it('and an exit of ours at the same time count together, whichever the venue filled', () => {
    const scenario = scenarioWithStops()
    const stop = enter(scenario)
    scenario.bar('BTC', 94)
    const exit = only(scenario, isExit)
    report(scenario, exit, reportOf('canceled', [fillOf('x1', 94, 2)]))
    const events = report(scenario, stop, reportOf('filled', [fillOf('x2', 94, 2.975)]))
    expect(payloadOf(events, 'execution.position_closed.v1')).toMatchObject({ gross_pnl: -29.85 })
    expect(scenario.state.trading.orders.open.size).toBe(0)
  })

  it('that was first makes an exit fail without an alarm, and the exit that waits is not sent any more', () => {
    const scenario = scenarioWithStops()
    const stop = enter(scenario)
    scenario.bar('BTC', 94)
    const exit = only(scenario, isExit)
    const refused = scenario.do({ kind: 'record-rejection', orderId: exit.id, reason: 'nothing to reduce' })
    expect(typesOf(refused)).not.toContain('alert.execution')
    scenario.wait(1000)
    scenario.do({ kind: 'retry-exits' })
    const again = only(scenario, isExit)
    const events = report(scenario, stop, reportOf('filled', [fillOf('x1', 94, 4.975)]))
    expect(typesOf(events)).toContain('execution.position_closed.v1')
    expect(payloadOf(events, 'execution.cancel_requested.v1')).toMatchObject({
      order_id: again.id,
      reason: 'position_closed',
    })
  })

  it('is canceled when the position is closed in another way', () => {
    const scenario = scenarioWithStops()
    const stop = enter(scenario)
    const by = { operator: 'op', surface: 'api' } as const
    scenario.do({ kind: 'close-position', positionId: positionOf(scenario).id, by })
    const events = report(scenario, only(scenario, isExit), reportOf('filled', [fillOf('x1', 101, 4.975)]))
    expect(payloadOf(events, 'execution.cancel_requested.v1')).toMatchObject({ order_id: stop.id })
    report(scenario, stop, reportOf('canceled'))
    expect(scenario.state.trading.orders.open.size).toBe(0)
  })

  it('that the venue refuses is tried again, less and less often, with an alert that says what holds', () => {
    const scenario = scenarioWithStops()
    scenario.intend()
    report(scenario, only(scenario, isEntry), reportOf('filled', [fillOf('e1', 100, 4.975)]))
    const first = only(scenario, isProtectiveStop)
    const refused = scenario.do({ kind: 'record-rejection', orderId: first.id, reason: 'too many stops' })
    expect(payloadOf(refused, 'alert.execution')).toMatchObject({ cause: 'stop_not_resting', repeat: 0 })
    scenario.wait(4999)
    expect(scenario.do({ kind: 'keep-protective-stops' })).toEqual([])
    scenario.wait(1)
    expect(submittedIn(scenario.do({ kind: 'keep-protective-stops' }))).toHaveLength(1)
    const second = only(scenario, isProtectiveStop)
    expect(second.id).not.toBe(first.id)
    scenario.do({ kind: 'record-rejection', orderId: second.id, reason: 'too many stops' })
    scenario.wait(9999)
    expect(scenario.do({ kind: 'keep-protective-stops' })).toEqual([])
    scenario.wait(1)
    expect(submittedIn(scenario.do({ kind: 'keep-protective-stops' }))).toHaveLength(1)
  })

  it('that somebody canceled at the venue is ordered again', () => {
    const scenario = scenarioWithStops()
    const stop = enter(scenario)
    report(scenario, stop, reportOf('canceled'))
    scenario.wait(1000)
    const [again] = submittedIn(scenario.do({ kind: 'keep-protective-stops' }))
    expect(again).toMatchObject({ type: 'stop_market', trigger_price: 95 })
  })

  it('stays where it is under lockdown, and no other is ordered', () => {
    const scenario = scenarioWithStops()
    const stop = enter(scenario)
    scenario.do({
      kind: 'set-kill-switch',
      move: { level: 3, reason: 'test', operator: 'op', surface: 'cli' },
    })
    expect(scenario.do({ kind: 'keep-protective-stops' })).toEqual([])
    expect(only(scenario, isProtectiveStop)).toEqual(stop)
  })

  it('at rest does not keep the account from being compared', () => {
    const scenario = scenarioWithStops()
    enter(scenario)
    const position = { symbol: 'BTC', direction: 'long', quantity: quantityFrom(1), leverage: 2 } as const
    const holding = { ...position, entryPrice: positionOf(scenario).holding.entryPrice }
    const sweep = {
      venue: VENUE,
      positions: [holding],
      liquidations: [],
      quietSymbols: [canonicalSymbol('BTC')],
    }
    expect(typesOf(scenario.do({ kind: 'compare-account', sweep }))).toContain('execution.venue_differs.v1')
  })
})
