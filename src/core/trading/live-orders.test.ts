import { describe, expect, it } from 'vitest'
import { payloadOf, typesOf, type Desk } from './trading.fixture.ts'
import {
  checkedVenue,
  enterLive,
  fillOf,
  liveDesk,
  onlyOrder,
  report,
  reportOf,
  VENUE,
} from './live.fixture.ts'
import { openPositionsOf } from './book.ts'
import { unitsNumber } from '../shared/money.ts'

const quantityOf = (desk: Desk): number => unitsNumber(onlyOrder(desk).quantity)
const position = (desk: Desk) => {
  const found = [...desk.state.trading.positions.values()].find(({ terms }) => terms.platform === VENUE)
  if (found === undefined) throw new Error('no position at the venue')
  return found
}
const intentStatus = (desk: Desk) => [...desk.state.trading.intents.values()].at(-1)?.status
const doubt = (desk: Desk) =>
  desk.do({ kind: 'mark-order-unknown', orderId: onlyOrder(desk).id, reason: 'no answer' })
const notFound = (desk: Desk) =>
  desk.do({ kind: 'record-not-found', orderId: onlyOrder(desk).id, lookups: 3 })

describe('an entry at a venue', () => {
  it('is an immediate limit on the steps of the venue, and nothing is filled before the venue says so', () => {
    const desk = liveDesk()
    const events = desk.intend()
    expect(typesOf(events)).toEqual(['execution.order_submitted.v1'])
    expect(payloadOf(events, 'execution.order_submitted.v1')).toMatchObject({
      venue: VENUE,
      type: 'limit',
      limit_price: 100.5,
      reduce_only: false,
    })
    // 500 USD at the worst price, cut to thousandths.
    expect(quantityOf(desk)).toBe(4.975)
    expect(intentStatus(desk)).toBe('executing')
    expect(openPositionsOf(desk.state.trading)).toEqual([])
  })

  it('rounds the limit of a sale up, never to the worse side', () => {
    const desk = liveDesk()
    desk.bar('BTC', 99.99)
    const events = desk.intend({ direction: 'short' })
    // 99.49005 moved up to a cent.
    expect(payloadOf(events, 'execution.order_submitted.v1')).toMatchObject({ limit_price: 99.5 })
  })

  it('is filled once per trade, repeated and out of order, and ends when all is told', () => {
    const desk = liveDesk()
    desk.intend()
    const order = onlyOrder(desk)
    const [first, second] = [fillOf('t1', 100, 2), fillOf('t2', 100.2, 2.975)]
    expect(typesOf(report(desk, order, reportOf('partial', [second])))).toEqual([
      'execution.order_acknowledged.v1',
      'execution.order_filled.v1',
      'execution.position_opened.v1',
    ])
    expect(report(desk, order, reportOf('partial', [second]))).toEqual([])
    // The order says that it is filled, but one of its trades is not told yet.
    expect(report(desk, order, reportOf('filled', [second], 4.975))).toEqual([])
    expect(onlyOrder(desk).status).toBe('partial')
    expect(typesOf(report(desk, order, reportOf('filled', [second, first])))).toEqual([
      'execution.order_filled.v1',
      'execution.position_updated.v1',
    ])
    expect(desk.state.trading.orders.open.size).toBe(0)
    expect(intentStatus(desk)).toBe('filled')
    expect(unitsNumber(position(desk).holding.quantity)).toBe(4.975)
    expect(report(desk, order, reportOf('filled', [first, second]))).toEqual([])
  })

  it('keeps what was filled when the rest is canceled, and rejects the intent when nothing was', () => {
    const desk = liveDesk()
    desk.intend()
    expect(typesOf(report(desk, onlyOrder(desk), reportOf('canceled', [fillOf('t1', 100, 1)])))).toContain(
      'execution.order_canceled.v1',
    )
    expect(intentStatus(desk)).toBe('filled')
    expect(position(desk).holding.isEntryDone).toBe(true)

    const other = liveDesk()
    other.intend()
    report(other, onlyOrder(other), reportOf('canceled'))
    expect(intentStatus(other)).toBe('rejected')
  })

  it('is rejected when the venue refuses it', () => {
    const desk = liveDesk()
    desk.intend()
    const order = onlyOrder(desk)
    const events = desk.do({ kind: 'record-rejection', orderId: order.id, reason: 'insufficient margin' })
    expect(payloadOf(events, 'execution.order_failed.v1')).toMatchObject({
      reasons: ['venue_rejected'],
      details: { venue_reason: 'insufficient margin' },
    })
    expect(desk.state.trading.orders.ended.get(order.id)?.status).toBe('rejected')
    expect(intentStatus(desk)).toBe('rejected')
  })
})

describe('nothing is sent', () => {
  const reasonsOf = (desk: Desk, changes = {}) =>
    payloadOf(desk.intend(changes), 'execution.order_failed.v1')['reasons']

  it('without a venue, a confirmation, a passed check', () => {
    expect(reasonsOf(liveDesk({ execution: { venue: '' } }))).toContain('venue_unavailable')
    expect(reasonsOf(liveDesk({ execution: { venue: 'another' } }))).toContain('venue_unavailable')
    const failing = liveDesk()
    failing.do(checkedVenue(false))
    expect(reasonsOf(failing)).toEqual(['venue_unavailable'])
  })

  it('in a symbol that the venue does not trade any more', () => {
    const desk = liveDesk()
    desk.do(checkedVenue(true, ['ETH']))
    expect(reasonsOf(desk)).toEqual(['venue_unavailable'])
  })

  it('before the time on paper is over', () => {
    expect(reasonsOf(liveDesk({ execution: { paper_min_days: 30 } }))).toEqual(['paper_period'])
  })

  it('smaller than the venue takes', () => {
    const desk = liveDesk({ execution: { min_notional_usd: 0 } })
    desk.bar('BTC', 120)
    expect(reasonsOf(desk, { size_pct: 0.00002 })).toEqual(['size_zero'])
  })

  it('while an order anywhere is unknown', () => {
    const desk = liveDesk()
    desk.intend()
    doubt(desk)
    desk.bar('ETH', 50)
    expect(reasonsOf(desk, { symbol: 'ETH' })).toEqual(['venue_unavailable'])
  })

  it('beyond so many orders at once', () => {
    const desk = liveDesk({ execution: { min_notional_usd: 0 } })
    const symbols = Array.from({ length: 501 }, (_, index) => `S${index}`)
    desk.do(checkedVenue(true, symbols))
    for (const symbol of symbols) {
      desk.bar(symbol, 100)
      if (symbol !== 'S500') desk.intend({ symbol, size_pct: 0.001 })
    }
    expect(desk.state.trading.orders.open.size).toBe(500)
    expect(reasonsOf(desk, { symbol: 'S500', size_pct: 0.001 })).toEqual(['venue_unavailable'])
  })

  it('on paper, while real positions are open', () => {
    const desk = liveDesk()
    enterLive(desk)
    desk.configure({ execution: { mode: 'paper' } })
    desk.bar('ETH', 50)
    expect(reasonsOf(desk, { symbol: 'ETH' })).toEqual(['venue_unavailable'])
  })
})

describe('an order of unknown fate', () => {
  it('takes the state it has at the venue, with the fills that were missed', () => {
    const desk = liveDesk()
    desk.intend()
    expect(typesOf(doubt(desk))).toEqual(['execution.order_unknown.v1'])
    expect(doubt(desk)).toEqual([])
    const events = report(desk, onlyOrder(desk), reportOf('filled', [fillOf('t1', 100, 4.975)]), 1)
    expect(typesOf(events)).toEqual([
      'execution.order_reconciled.v1',
      'execution.order_acknowledged.v1',
      'execution.order_filled.v1',
      'execution.position_opened.v1',
    ])
    expect(payloadOf(events, 'execution.order_reconciled.v1')).toMatchObject({ found: true, action: 'none' })
    expect(intentStatus(desk)).toBe('filled')
  })

  it('is sent again under the same name where the venue does not have it, a few times', () => {
    const desk = liveDesk()
    desk.intend()
    const { id } = onlyOrder(desk)
    for (const resends of [1, 2, 3]) {
      doubt(desk)
      expect(payloadOf(notFound(desk), 'execution.order_reconciled.v1')).toMatchObject({ action: 'resend' })
      expect(onlyOrder(desk)).toMatchObject({ id, status: 'submitting', resends })
    }
    doubt(desk)
    expect(payloadOf(notFound(desk), 'execution.order_failed.v1')).toMatchObject({
      reasons: ['not_found_on_venue'],
    })
    expect(intentStatus(desk)).toBe('rejected')
  })

  it('is given up where it is late, or the level forbids it', () => {
    const late = liveDesk()
    late.intend()
    doubt(late)
    late.wait(301_000)
    expect(typesOf(notFound(late))).toContain('execution.order_failed.v1')

    const halted = liveDesk()
    halted.intend()
    doubt(halted)
    halted.do({ kind: 'set-kill-switch', move: { level: 2, reason: 'x', operator: 'op', surface: 'cli' } })
    expect(typesOf(notFound(halted))).toContain('execution.order_failed.v1')
  })

  it('keeps its fills when the venue forgets it', () => {
    const desk = liveDesk()
    desk.intend()
    report(desk, onlyOrder(desk), reportOf('partial', [fillOf('t1', 100, 1)]))
    doubt(desk)
    expect(typesOf(notFound(desk))).toEqual(['execution.order_reconciled.v1', 'execution.order_canceled.v1'])
    expect(intentStatus(desk)).toBe('filled')
  })

  it('waits for an operator where the venue cannot be asked', () => {
    const desk = liveDesk()
    desk.intend()
    doubt(desk)
    const { id: orderId } = onlyOrder(desk)
    const events = desk.do({ kind: 'record-lookup-unsupported', orderId })
    expect(typesOf(events)).toEqual(['execution.order_reconciled.v1', 'alert.execution'])
    expect(desk.do({ kind: 'record-lookup-unsupported', orderId })).toEqual([])
    expect(onlyOrder(desk)).toMatchObject({ status: 'unknown', needsOperator: true })
    const request = { orderId, operator: 'op', reason: null, surface: 'cli' } as const
    expect(typesOf(desk.do({ kind: 'cancel-order', request }))).toEqual(['execution.order_canceled.v1'])
    expect(desk.refusalOf({ kind: 'cancel-order', request })).toBe('order.not_open')
    expect(desk.refusalOf({ kind: 'cancel-order', request: { ...request, orderId: 'x' } })).toBe(
      'order.not_found',
    )
  })

  it('is what every order becomes after a restart', () => {
    const desk = liveDesk()
    desk.intend()
    expect(typesOf(desk.do({ kind: 'mark-orders-unknown', reason: 'restart' }))).toEqual([
      'execution.order_unknown.v1',
    ])
    expect(desk.do({ kind: 'mark-orders-unknown', reason: 'restart' })).toEqual([])
  })
})
