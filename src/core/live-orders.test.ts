import { describe, expect, it } from 'vitest'
import { payloadOf, typesOf, type Desk } from './desk.contract.ts'
import {
  checkedVenue,
  enterLive,
  fillOf,
  liveDesk,
  onlyOrder,
  report,
  reportOf,
  VENUE,
} from './live.contract.ts'
import { openPositionsOf } from './positions/book.ts'
import { equityOf } from './state.ts'
import { unitsNumber } from './vocabulary/money.ts'

const quantityOf = (desk: Desk): number => unitsNumber(onlyOrder(desk).quantity)
const position = (desk: Desk) => {
  const found = [...desk.state.positions.values()].find(({ terms }) => terms.platform === VENUE)
  if (found === undefined) throw new Error('no position at the venue')
  return found
}
const intentStatus = (desk: Desk) => [...desk.state.intents.values()].at(-1)?.status
const doubt = (desk: Desk) =>
  desk.do({ kind: 'doubt-order', orderId: onlyOrder(desk).id, reason: 'no answer' })
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
    expect(openPositionsOf(desk.state)).toEqual([])
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
    expect(desk.state.orders.open.size).toBe(0)
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
    expect(desk.state.orders.ended.get(order.id)?.status).toBe('rejected')
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
    const events = desk.do({ kind: 'record-unfindable', orderId })
    expect(typesOf(events)).toEqual(['execution.order_reconciled.v1', 'alert.execution'])
    expect(desk.do({ kind: 'record-unfindable', orderId })).toEqual([])
    expect(onlyOrder(desk)).toMatchObject({ status: 'unknown', needsOperator: true })
    const wish = { orderId, operator: 'op', reason: null, surface: 'cli' } as const
    expect(typesOf(desk.do({ kind: 'cancel-order', wish }))).toEqual(['execution.order_canceled.v1'])
    expect(desk.refusalOf({ kind: 'cancel-order', wish })).toBe('order.not_open')
    expect(desk.refusalOf({ kind: 'cancel-order', wish: { ...wish, orderId: 'x' } })).toBe('order.not_found')
  })

  it('is what every order becomes after a restart', () => {
    const desk = liveDesk()
    desk.intend()
    expect(typesOf(desk.do({ kind: 'doubt-orders', reason: 'restart' }))).toEqual([
      'execution.order_unknown.v1',
    ])
    expect(desk.do({ kind: 'doubt-orders', reason: 'restart' })).toEqual([])
  })
})

describe('an exit at a venue', () => {
  it('is a reduce-only market order, and the position is closing until the venue has filled it', () => {
    const desk = liveDesk()
    enterLive(desk)
    const events = desk.bar('BTC', 94)
    expect(payloadOf(events, 'execution.order_submitted.v1')).toMatchObject({
      venue: VENUE,
      type: 'market',
      limit_price: null,
      reduce_only: true,
      exit_reason: 'stop_loss',
    })
    expect(position(desk).status).toBe('closing')
    const closed = report(desk, onlyOrder(desk), reportOf('filled', [fillOf('x1', 94, 4.975, 0.5)]))
    expect(typesOf(closed)).toContain('alert.stop_triggered')
    expect(payloadOf(closed, 'execution.position_closed.v1')).toMatchObject({
      mode: 'live',
      exit_reason: 'stop_loss',
      gross_pnl: -29.85,
      fees_usd: 0.51,
      realized_pnl: -30.36,
    })
    expect(equityOf(desk.state)).toBe(10_000_000_000n - 30_360_000n)
  })

  it('is tried again, later each time, for what is left, under a name of its own', () => {
    const desk = liveDesk()
    enterLive(desk)
    desk.bar('BTC', 94)
    const first = onlyOrder(desk)
    const part = report(desk, first, reportOf('canceled', [fillOf('x1', 94, 1, 0.1)]))
    expect(payloadOf(part, 'alert.execution')).toMatchObject({ cause: 'exit_failed', repeat: 0 })
    expect(desk.do({ kind: 'retry-exits' })).toEqual([])
    desk.wait(1000)
    desk.do({ kind: 'retry-exits' })
    const second = onlyOrder(desk)
    expect(second.id).not.toBe(first.id)
    expect(unitsNumber(second.quantity)).toBe(3.975)
    desk.do({ kind: 'record-rejection', orderId: second.id, reason: 'busy' })
    desk.wait(1000)
    expect(desk.do({ kind: 'retry-exits' })).toEqual([])
    desk.wait(1000)
    desk.do({ kind: 'retry-exits' })
    const closed = report(desk, onlyOrder(desk), reportOf('filled', [fillOf('x2', 93, 3.975, 0.4)]))
    expect(payloadOf(closed, 'execution.position_closed.v1')).toMatchObject({ fees_usd: 0.51 })
    expect(equityOf(desk.state)).toBe(10_000_000_000n - 6_000_000n - 27_825_000n - 510_000n)
  })

  it('ends after so many attempts; an operator can go on', () => {
    const desk = liveDesk()
    enterLive(desk)
    desk.bar('BTC', 94)
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      desk.do({ kind: 'record-rejection', orderId: onlyOrder(desk).id, reason: 'busy' })
      desk.wait(60_000)
      desk.do({ kind: 'retry-exits' })
    }
    expect(desk.state.orders.open.size).toBe(0)
    desk.bar('BTC', 94)
    const by = { operator: 'op', surface: 'api', note: 'enough' } as const
    const events = desk.do({ kind: 'close-position', positionId: position(desk).id, by })
    expect(payloadOf(events, 'execution.order_submitted.v1')).toMatchObject({
      exit_reason: 'manual',
      ordered_by: 'op',
      note: 'enough',
    })
    expect(desk.refusalOf({ kind: 'close-position', positionId: position(desk).id, by })).toBe(
      'position.not_open',
    )
    const closed = report(desk, onlyOrder(desk), reportOf('filled', [fillOf('x1', 94, 4.975)]))
    expect(payloadOf(closed, 'execution.position_closed.v1')).toMatchObject({
      closed_by: 'op',
      note: 'enough',
    })
  })

  it('cancels what is left of the entry, and takes along what still came of it', () => {
    const desk = liveDesk()
    desk.intend()
    const entry = onlyOrder(desk)
    report(desk, entry, reportOf('partial', [fillOf('t1', 100, 2)]))
    const events = desk.bar('BTC', 94)
    expect(typesOf(events)).toContain('execution.cancel_requested.v1')
    const exit = [...desk.state.orders.open.values()].find(({ isExit }) => isExit)
    if (exit === undefined) throw new Error('no exit')
    report(desk, exit, reportOf('filled', [fillOf('x1', 94, 2)]))
    // Not closed: more of the entry may come.
    expect(position(desk).status).toBe('closing')
    report(desk, entry, reportOf('canceled', [fillOf('t1', 100, 2), fillOf('t2', 100, 1)]))
    expect(position(desk).status).toBe('closing')
    desk.wait(1000)
    desk.do({ kind: 'retry-exits' })
    expect(quantityOf(desk)).toBe(1)
    report(desk, onlyOrder(desk), reportOf('filled', [fillOf('x2', 94, 1)]))
    expect(position(desk).status).toBe('closed')
  })

  it('closes with the entry where the exit was through first', () => {
    const desk = liveDesk()
    desk.intend()
    const entry = onlyOrder(desk)
    report(desk, entry, reportOf('partial', [fillOf('t1', 100, 2)]))
    desk.bar('BTC', 94)
    const exit = [...desk.state.orders.open.values()].find(({ isExit }) => isExit)
    if (exit === undefined) throw new Error('no exit')
    report(desk, exit, reportOf('filled', [fillOf('x1', 94, 2)]))
    expect(typesOf(report(desk, entry, reportOf('canceled', [fillOf('t1', 100, 2)])))).toEqual(
      expect.arrayContaining(['execution.order_canceled.v1', 'execution.position_closed.v1']),
    )
  })
})

describe('the kill switch', () => {
  const raise = (desk: Desk, level: 2 | 3) =>
    desk.do({ kind: 'set-kill-switch', move: { level, reason: 'x', operator: 'op', surface: 'cli' } })

  it('asks the venue to cancel entries from level 2 on, once', () => {
    const desk = liveDesk()
    desk.intend()
    expect(typesOf(raise(desk, 2))).toContain('execution.cancel_requested.v1')
    expect(typesOf(raise(desk, 3))).not.toContain('execution.cancel_requested.v1')
    expect(onlyOrder(desk).cancelReason).toBe('kill_switch')
    const { id: orderId } = onlyOrder(desk)
    expect(typesOf(desk.do({ kind: 'record-unsent', orderId, reason: 'late' }))).toEqual([
      'execution.order_canceled.v1',
    ])
    expect(desk.state.orders.ended.get(orderId)?.status).toBe('canceled')
  })

  it('lets no exit go by itself at level 3, and an operator may', () => {
    const desk = liveDesk()
    enterLive(desk)
    desk.bar('BTC', 94)
    raise(desk, 3)
    desk.do({ kind: 'record-unsent', orderId: onlyOrder(desk).id, reason: 'kill_switch' })
    desk.wait(60_000)
    expect(desk.do({ kind: 'retry-exits' })).toEqual([])
    desk.bar('BTC', 94)
    const by = { operator: 'op', surface: 'cli' } as const
    expect(typesOf(desk.do({ kind: 'close-position', positionId: position(desk).id, by }))).toEqual([
      'execution.order_submitted.v1',
    ])
  })

  it('gives up an entry whose time is over', () => {
    const desk = liveDesk()
    desk.intend()
    desk.wait(301_000)
    expect(payloadOf(desk.do({ kind: 'expire-intents' }), 'execution.cancel_requested.v1')).toMatchObject({
      reason: 'expired',
    })
  })
})
