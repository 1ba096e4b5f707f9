import { describe, expect, it } from 'vitest'
import { payloadOf, typesOf, type Desk } from './trading.fixture.ts'
import { enterLive, fillOf, liveDesk, onlyOrder, report, reportOf, VENUE } from './live.fixture.ts'
import { equityOf } from './evolve.ts'
import { unitsNumber } from '../shared/money.ts'

const quantityOf = (desk: Desk): number => unitsNumber(onlyOrder(desk).quantity)
const position = (desk: Desk) => {
  const found = [...desk.state.trading.positions.values()].find(({ terms }) => terms.platform === VENUE)
  if (found === undefined) throw new Error('no position at the venue')
  return found
}

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
    expect(equityOf(desk.state.trading)).toBe(10_000_000_000n - 30_360_000n)
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
    expect(equityOf(desk.state.trading)).toBe(10_000_000_000n - 6_000_000n - 27_825_000n - 510_000n)
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
    expect(desk.state.trading.orders.open.size).toBe(0)
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
    const exit = [...desk.state.trading.orders.open.values()].find(({ isExit }) => isExit)
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
    const exit = [...desk.state.trading.orders.open.values()].find(({ isExit }) => isExit)
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
    expect(desk.state.trading.orders.ended.get(orderId)?.status).toBe('canceled')
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
