import { orderId as orderIdOf } from '../../shared/brand.ts'
import { describe, expect, it } from 'vitest'
import { payloadOf, typesOf, type TradingScenario } from '../trading.fixture.ts'
import {
  checkedVenue,
  enterLive,
  fillOf,
  liveScenario,
  onlyOrder,
  quoteVenue,
  report,
  reportOf,
  VENUE,
} from '../live.fixture.ts'
import { openPositionsOf } from '../positions/book.ts'
import { quantityNumber } from '../../shared/money.ts'

const quantityOf = (scenario: TradingScenario): number => quantityNumber(onlyOrder(scenario).quantity)
const position = (scenario: TradingScenario) => {
  const found = [...scenario.state.trading.positions.values()].find(({ terms }) => terms.platform === VENUE)
  if (found === undefined) throw new Error('no position at the venue')
  return found
}
const intentStatus = (scenario: TradingScenario) =>
  [...scenario.state.trading.intents.values()].at(-1)?.status
const markUnknown = (scenario: TradingScenario) =>
  scenario.do({ kind: 'mark-order-unknown', orderId: onlyOrder(scenario).id, reason: 'no answer' })
const notFound = (scenario: TradingScenario) =>
  scenario.do({ kind: 'record-not-found', orderId: onlyOrder(scenario).id, lookups: 3 })

describe('an entry at a venue', () => {
  it('is an immediate limit on the steps of the venue, and nothing is filled before the venue says so', () => {
    const scenario = liveScenario()
    const events = scenario.intend()
    expect(typesOf(events)).toEqual(['execution.order_submitted.v1'])
    expect(payloadOf(events, 'execution.order_submitted.v1')).toMatchObject({
      venue: VENUE,
      type: 'limit',
      limit_price: 100.5,
      reduce_only: false,
    })
    // 500 USD at the worst price, cut to thousandths.
    expect(quantityOf(scenario)).toBe(4.975)
    expect(intentStatus(scenario)).toBe('executing')
    expect(openPositionsOf(scenario.state.trading)).toEqual([])
  })

  it('rounds the limit of a sale up, never to the worse side', () => {
    const scenario = liveScenario()
    scenario.bar('BTC', 99.99)
    const events = scenario.intend({ direction: 'short' })
    // 99.49005 moved up to a cent.
    expect(payloadOf(events, 'execution.order_submitted.v1')).toMatchObject({ limit_price: 99.5 })
  })

  it('is filled once per trade, repeated and out of order, and ends when all is told', () => {
    const scenario = liveScenario()
    scenario.intend()
    const order = onlyOrder(scenario)
    const [first, second] = [fillOf('t1', 100, 2), fillOf('t2', 100.2, 2.975)]
    expect(typesOf(report(scenario, order, reportOf('partial', [second])))).toEqual([
      'execution.order_acknowledged.v1',
      'execution.order_filled.v1',
      'execution.position_opened.v1',
    ])
    expect(report(scenario, order, reportOf('partial', [second]))).toEqual([])
    // The order reports that it is filled, but one of its trades is not listed yet.
    expect(report(scenario, order, reportOf('filled', [second], 4.975))).toEqual([])
    expect(onlyOrder(scenario).status).toBe('partial')
    expect(typesOf(report(scenario, order, reportOf('filled', [second, first])))).toEqual([
      'execution.order_filled.v1',
      'execution.position_updated.v1',
    ])
    expect(scenario.state.trading.orders.open.size).toBe(0)
    expect(intentStatus(scenario)).toBe('filled')
    expect(quantityNumber(position(scenario).holding.quantity)).toBe(4.975)
    expect(report(scenario, order, reportOf('filled', [first, second]))).toEqual([])
  })

  it('keeps what was filled when the rest is canceled, and rejects the intent when nothing was', () => {
    const scenario = liveScenario()
    scenario.intend()
    expect(
      typesOf(report(scenario, onlyOrder(scenario), reportOf('canceled', [fillOf('t1', 100, 1)]))),
    ).toContain('execution.order_canceled.v1')
    expect(intentStatus(scenario)).toBe('filled')
    expect(position(scenario).holding.isEntryDone).toBe(true)

    const other = liveScenario()
    other.intend()
    report(other, onlyOrder(other), reportOf('canceled'))
    expect(intentStatus(other)).toBe('rejected')
  })

  it('fails when it was not sent, and is not tried again by itself', () => {
    const scenario = liveScenario()
    scenario.intend()
    const { id: orderId } = onlyOrder(scenario)
    const events = scenario.do({ kind: 'record-not-sent', orderId, reason: 'banned', retryAfterMs: 1000 })
    expect(payloadOf(events, 'execution.order_failed.v1')).toMatchObject({
      reasons: ['not_sent'],
      details: { reason: 'banned' },
    })
    expect(scenario.state.trading.orders.ended.get(orderId)?.status).toBe('failed')
    expect(intentStatus(scenario)).toBe('rejected')
    expect(typesOf(events)).not.toContain('alert.execution')
  })

  it('is rejected when the venue refuses it', () => {
    const scenario = liveScenario()
    scenario.intend()
    const order = onlyOrder(scenario)
    const events = scenario.do({ kind: 'record-rejection', orderId: order.id, reason: 'insufficient margin' })
    expect(payloadOf(events, 'execution.order_failed.v1')).toMatchObject({
      reasons: ['venue_rejected'],
      details: { venue_reason: 'insufficient margin' },
    })
    expect(scenario.state.trading.orders.ended.get(order.id)?.status).toBe('rejected')
    expect(intentStatus(scenario)).toBe('rejected')
  })
})

describe('nothing is sent', () => {
  const reasonsOf = (scenario: TradingScenario, changes = {}) =>
    payloadOf(scenario.intend(changes), 'execution.order_failed.v1')['reasons']

  it('without a venue, a confirmation, a passed check', () => {
    expect(reasonsOf(liveScenario({ execution: { venue: '' } }))).toContain('venue_unavailable')
    expect(reasonsOf(liveScenario({ execution: { venue: 'another' } }))).toContain('venue_unavailable')
    const failing = liveScenario()
    failing.do(checkedVenue(false))
    expect(reasonsOf(failing)).toEqual(['venue_unavailable'])
  })

  it('in a symbol that the venue does not trade any more', () => {
    const scenario = liveScenario()
    scenario.do(checkedVenue(true, ['ETH']))
    expect(reasonsOf(scenario)).toEqual(['venue_unavailable'])
  })

  it('before the time on paper is over', () => {
    expect(reasonsOf(liveScenario({ execution: { paper_min_days: 30 } }))).toEqual(['paper_period'])
  })

  it('smaller than the venue takes', () => {
    const scenario = liveScenario({ execution: { min_notional_usd: 0 } })
    scenario.bar('BTC', 120)
    quoteVenue(scenario, { BTC: 120 })
    expect(reasonsOf(scenario, { size_pct: 0.00002 })).toEqual(['size_zero'])
  })

  it('while an order anywhere is unknown', () => {
    const scenario = liveScenario()
    scenario.intend()
    markUnknown(scenario)
    scenario.bar('ETH', 50)
    expect(reasonsOf(scenario, { symbol: 'ETH' })).toEqual(['venue_unavailable'])
  })

  it('beyond so many orders at once', () => {
    const scenario = liveScenario({ execution: { min_notional_usd: 0 } })
    const symbols = Array.from({ length: 501 }, (_, index) => `S${index}`)
    scenario.do(checkedVenue(true, symbols))
    for (const symbol of symbols) {
      scenario.bar(symbol, 100)
      quoteVenue(scenario, { [symbol]: 100 })
      if (symbol !== 'S500') scenario.intend({ symbol, size_pct: 0.001 })
    }
    expect(scenario.state.trading.orders.open.size).toBe(500)
    expect(reasonsOf(scenario, { symbol: 'S500', size_pct: 0.001 })).toEqual(['venue_unavailable'])
  })

  it('on paper, while real positions are open', () => {
    const scenario = liveScenario()
    enterLive(scenario)
    scenario.configure({ execution: { mode: 'paper' } })
    scenario.bar('ETH', 50)
    expect(reasonsOf(scenario, { symbol: 'ETH' })).toEqual(['venue_unavailable'])
  })
})

describe('an order of unknown fate', () => {
  it('takes the state it has at the venue, with the fills that were missed', () => {
    const scenario = liveScenario()
    scenario.intend()
    expect(typesOf(markUnknown(scenario))).toEqual(['execution.order_unknown.v1'])
    expect(markUnknown(scenario)).toEqual([])
    const events = report(scenario, onlyOrder(scenario), reportOf('filled', [fillOf('t1', 100, 4.975)]), 1)
    expect(typesOf(events)).toEqual([
      'execution.order_reconciled.v1',
      'execution.order_acknowledged.v1',
      'execution.order_filled.v1',
      'execution.position_opened.v1',
    ])
    expect(payloadOf(events, 'execution.order_reconciled.v1')).toMatchObject({ found: true, action: 'none' })
    expect(intentStatus(scenario)).toBe('filled')
  })

  it('is sent again under the same name where the venue does not have it, a few times', () => {
    const scenario = liveScenario()
    scenario.intend()
    const { id } = onlyOrder(scenario)
    for (const resends of [1, 2, 3]) {
      markUnknown(scenario)
      expect(payloadOf(notFound(scenario), 'execution.order_reconciled.v1')).toMatchObject({
        action: 'resend',
      })
      expect(onlyOrder(scenario)).toMatchObject({ id, status: 'submitting', resends })
    }
    markUnknown(scenario)
    expect(payloadOf(notFound(scenario), 'execution.order_failed.v1')).toMatchObject({
      reasons: ['not_found_on_venue'],
    })
    expect(intentStatus(scenario)).toBe('rejected')
  })

  it('is given up where it is late, or the level forbids it', () => {
    const late = liveScenario()
    late.intend()
    markUnknown(late)
    late.wait(301_000)
    expect(typesOf(notFound(late))).toContain('execution.order_failed.v1')

    const halted = liveScenario()
    halted.intend()
    markUnknown(halted)
    halted.do({ kind: 'set-kill-switch', move: { level: 2, reason: 'x', operator: 'op', surface: 'cli' } })
    expect(typesOf(notFound(halted))).toContain('execution.order_failed.v1')
  })

  it('keeps its fills when the venue forgets it', () => {
    const scenario = liveScenario()
    scenario.intend()
    report(scenario, onlyOrder(scenario), reportOf('partial', [fillOf('t1', 100, 1)]))
    markUnknown(scenario)
    expect(typesOf(notFound(scenario))).toEqual([
      'execution.order_reconciled.v1',
      'execution.order_canceled.v1',
    ])
    expect(intentStatus(scenario)).toBe('filled')
  })

  it('waits for an operator where the venue cannot be asked', () => {
    const scenario = liveScenario()
    scenario.intend()
    markUnknown(scenario)
    const { id: orderId } = onlyOrder(scenario)
    const events = scenario.do({ kind: 'record-lookup-unsupported', orderId })
    expect(typesOf(events)).toEqual(['execution.order_reconciled.v1', 'alert.execution'])
    expect(scenario.do({ kind: 'record-lookup-unsupported', orderId })).toEqual([])
    expect(onlyOrder(scenario)).toMatchObject({ status: 'unknown', needsOperator: true })
    const request = { orderId, operator: 'op', reason: null, surface: 'cli' } as const
    expect(typesOf(scenario.do({ kind: 'cancel-order', request }))).toEqual(['execution.order_canceled.v1'])
    expect(scenario.refusalOf({ kind: 'cancel-order', request })).toBe('order.not_open')
    expect(
      scenario.refusalOf({ kind: 'cancel-order', request: { ...request, orderId: orderIdOf('x') } }),
    ).toBe('order.not_found')
  })

  it('is what every order becomes after a restart', () => {
    const scenario = liveScenario()
    scenario.intend()
    expect(typesOf(scenario.do({ kind: 'mark-orders-unknown', reason: 'restart' }))).toEqual([
      'execution.order_unknown.v1',
    ])
    expect(scenario.do({ kind: 'mark-orders-unknown', reason: 'restart' })).toEqual([])
  })
})
