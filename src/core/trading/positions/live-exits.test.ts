import { isExit } from '../orders/orders.ts'
import { describe, expect, it } from 'vitest'
import { payloadOf, typesOf, type TradingScenario } from '../trading.fixture.ts'
import { enterLive, fillOf, liveScenario, onlyOrder, report, reportOf, VENUE } from '../live.fixture.ts'
import { equityOf } from '../risk/account.ts'
import { quantityNumber } from '../../shared/money.ts'
import { timestampAt } from '../../shared/time.ts'

const quantityOf = (scenario: TradingScenario): number => quantityNumber(onlyOrder(scenario).quantity)
const position = (scenario: TradingScenario) => {
  const found = [...scenario.state.trading.positions.values()].find(({ terms }) => terms.platform === VENUE)
  if (found === undefined) throw new Error('no position at the venue')
  return found
}

describe('an exit at a venue', () => {
  it('is a reduce-only market order, and the position is closing until the venue has filled it', () => {
    const scenario = liveScenario()
    enterLive(scenario)
    const events = scenario.bar('BTC', 94)
    expect(payloadOf(events, 'execution.order_submitted.v1')).toMatchObject({
      venue: VENUE,
      type: 'market',
      limit_price: null,
      reduce_only: true,
      exit_reason: 'stop_loss',
    })
    expect(position(scenario).status).toBe('closing')
    const closed = report(scenario, onlyOrder(scenario), reportOf('filled', [fillOf('x1', 94, 4.975, 0.5)]))
    expect(typesOf(closed)).toContain('alert.stop_triggered')
    expect(payloadOf(closed, 'execution.position_closed.v1')).toMatchObject({
      mode: 'live',
      exit_reason: 'stop_loss',
      gross_pnl: -29.85,
      fees_usd: 0.51,
      realized_pnl: -30.36,
    })
    expect(equityOf(scenario.state.trading)).toBe(10_000_000_000n - 30_360_000n)
  })

  it('is tried again, later each time, for what is left, under a name of its own', () => {
    const scenario = liveScenario()
    enterLive(scenario)
    scenario.bar('BTC', 94)
    const first = onlyOrder(scenario)
    const part = report(scenario, first, reportOf('canceled', [fillOf('x1', 94, 1, 0.1)]))
    expect(payloadOf(part, 'alert.execution')).toMatchObject({ cause: 'exit_failed', repeat: 0 })
    expect(scenario.do({ kind: 'retry-exits' })).toEqual([])
    scenario.wait(1000)
    scenario.do({ kind: 'retry-exits' })
    const second = onlyOrder(scenario)
    expect(second.id).not.toBe(first.id)
    expect(quantityNumber(second.quantity)).toBe(3.975)
    scenario.do({ kind: 'record-rejection', orderId: second.id, reason: 'busy' })
    scenario.wait(1000)
    expect(scenario.do({ kind: 'retry-exits' })).toEqual([])
    scenario.wait(1000)
    scenario.do({ kind: 'retry-exits' })
    const closed = report(scenario, onlyOrder(scenario), reportOf('filled', [fillOf('x2', 93, 3.975, 0.4)]))
    expect(payloadOf(closed, 'execution.position_closed.v1')).toMatchObject({ fees_usd: 0.51 })
    expect(equityOf(scenario.state.trading)).toBe(10_000_000_000n - 6_000_000n - 27_825_000n - 510_000n)
  })

  it('is tried again however often it fails; an operator can go on', () => {
    const scenario = liveScenario()
    enterLive(scenario)
    scenario.bar('BTC', 94)
    const alerts: string[] = []
    for (let attempt = 1; attempt <= 40; attempt += 1) {
      const { id: orderId } = onlyOrder(scenario)
      const events = scenario.do({ kind: 'record-rejection', orderId, reason: 'busy' })
      alerts.push(...typesOf(events).filter((type) => type === 'alert.execution'))
      scenario.wait(60_000)
      scenario.do({ kind: 'retry-exits' })
      expect(onlyOrder(scenario).id).not.toBe(orderId)
    }
    // 39 minutes: at first, and after every 900 s.
    expect(alerts).toHaveLength(3)
    scenario.do({ kind: 'record-rejection', orderId: onlyOrder(scenario).id, reason: 'busy' })
    scenario.bar('BTC', 94)
    const by = { operator: 'op', surface: 'api', note: 'enough' } as const
    const events = scenario.do({ kind: 'close-position', positionId: position(scenario).id, by })
    expect(payloadOf(events, 'execution.order_submitted.v1')).toMatchObject({
      exit_reason: 'manual',
      ordered_by: 'op',
      note: 'enough',
    })
    expect(scenario.refusalOf({ kind: 'close-position', positionId: position(scenario).id, by })).toBe(
      'position.not_open',
    )
    const closed = report(scenario, onlyOrder(scenario), reportOf('filled', [fillOf('x1', 94, 4.975)]))
    expect(payloadOf(closed, 'execution.position_closed.v1')).toMatchObject({
      closed_by: 'op',
      note: 'enough',
    })
  })

  it('does not count what was not sent, and waits as long as the venue asks', () => {
    const scenario = liveScenario()
    enterLive(scenario)
    scenario.bar('BTC', 94)
    for (let attempt = 1; attempt <= 12; attempt += 1) {
      const { id: orderId } = onlyOrder(scenario)
      const events = scenario.do({
        kind: 'record-not-sent',
        orderId,
        reason: 'banned',
        retryAfterMs: 150_000,
      })
      expect(scenario.state.trading.orders.ended.get(orderId)?.status).toBe('failed')
      const alert = events.find(({ type }) => type === 'alert.execution')
      // Alerts repeat every 900 s, which is six bans.
      expect(alert !== undefined).toBe(attempt % 6 === 1)
      if (alert !== undefined)
        expect(payloadOf([alert], 'alert.execution')).toMatchObject({
          cause: 'exit_failed',
          repeat: Math.floor(attempt / 6),
          message:
            `An exit of BTC has not succeeded yet: 4.975 are still held; still trying, next attempt at ` +
            `${timestampAt(Date.parse(scenario.now) + 150_000)}. Attempts: ${attempt}, of which the venue examined 0. The last one: not_sent: banned`,
        })
      scenario.wait(149_999)
      expect(scenario.do({ kind: 'retry-exits' })).toEqual([])
      scenario.wait(1)
      scenario.do({ kind: 'retry-exits' })
    }
    report(scenario, onlyOrder(scenario), reportOf('filled', [fillOf('x1', 94, 4.975)]))
    expect(position(scenario).status).toBe('closed')
  })

  it('pauses longer and longer where the venue does not say for how long', () => {
    const scenario = liveScenario()
    enterLive(scenario)
    scenario.bar('BTC', 94)
    for (const pauseMs of [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]) {
      const { id: orderId } = onlyOrder(scenario)
      scenario.do({ kind: 'record-not-sent', orderId, reason: 'no network', retryAfterMs: null })
      scenario.wait(pauseMs - 1)
      expect(scenario.do({ kind: 'retry-exits' })).toEqual([])
      scenario.wait(1)
      expect(typesOf(scenario.do({ kind: 'retry-exits' }))).toEqual(['execution.order_submitted.v1'])
    }
  })

  it('is tried after a quarter of an hour at the latest, however long the venue asks', () => {
    const scenario = liveScenario()
    enterLive(scenario)
    scenario.bar('BTC', 94)
    const { id: orderId } = onlyOrder(scenario)
    scenario.do({ kind: 'record-not-sent', orderId, reason: 'banned', retryAfterMs: 86_400_000 })
    scenario.wait(899_999)
    expect(scenario.do({ kind: 'retry-exits' })).toEqual([])
    scenario.wait(1)
    expect(typesOf(scenario.do({ kind: 'retry-exits' }))).toEqual(['execution.order_submitted.v1'])
  })

  it('says that the kill switch blocks it where it does', () => {
    const scenario = liveScenario()
    enterLive(scenario)
    scenario.bar('BTC', 94)
    const move = { level: 3, reason: 'x', operator: 'op', surface: 'cli' } as const
    scenario.do({ kind: 'set-kill-switch', move })
    const { id: orderId } = onlyOrder(scenario)
    const events = scenario.do({ kind: 'record-not-sent', orderId, reason: 'banned', retryAfterMs: 1000 })
    expect(payloadOf(events, 'alert.execution').message).toContain('the kill switch blocks further attempts')
  })

  it('cancels what is left of the entry, and takes along what still came of it', () => {
    const scenario = liveScenario()
    scenario.intend()
    const entry = onlyOrder(scenario)
    report(scenario, entry, reportOf('partial', [fillOf('t1', 100, 2)]))
    const events = scenario.bar('BTC', 94)
    expect(typesOf(events)).toContain('execution.cancel_requested.v1')
    const exit = [...scenario.state.trading.orders.open.values()].find(isExit)
    if (exit === undefined) throw new Error('no exit')
    report(scenario, exit, reportOf('filled', [fillOf('x1', 94, 2)]))
    // The position stays open, because more of the entry may be filled.
    expect(position(scenario).status).toBe('closing')
    report(scenario, entry, reportOf('canceled', [fillOf('t1', 100, 2), fillOf('t2', 100, 1)]))
    expect(position(scenario).status).toBe('closing')
    scenario.wait(1000)
    scenario.do({ kind: 'retry-exits' })
    expect(quantityOf(scenario)).toBe(1)
    report(scenario, onlyOrder(scenario), reportOf('filled', [fillOf('x2', 94, 1)]))
    expect(position(scenario).status).toBe('closed')
  })

  it('closes with the entry where the exit was through first', () => {
    const scenario = liveScenario()
    scenario.intend()
    const entry = onlyOrder(scenario)
    report(scenario, entry, reportOf('partial', [fillOf('t1', 100, 2)]))
    scenario.bar('BTC', 94)
    const exit = [...scenario.state.trading.orders.open.values()].find(isExit)
    if (exit === undefined) throw new Error('no exit')
    report(scenario, exit, reportOf('filled', [fillOf('x1', 94, 2)]))
    expect(typesOf(report(scenario, entry, reportOf('canceled', [fillOf('t1', 100, 2)])))).toEqual(
      expect.arrayContaining(['execution.order_canceled.v1', 'execution.position_closed.v1']),
    )
  })
})

describe('the kill switch', () => {
  const raise = (scenario: TradingScenario, level: 2 | 3) =>
    scenario.do({ kind: 'set-kill-switch', move: { level, reason: 'x', operator: 'op', surface: 'cli' } })

  it('asks the venue to cancel entries from level 2 on, once', () => {
    const scenario = liveScenario()
    scenario.intend()
    expect(typesOf(raise(scenario, 2))).toContain('execution.cancel_requested.v1')
    expect(typesOf(raise(scenario, 3))).not.toContain('execution.cancel_requested.v1')
    expect(onlyOrder(scenario).cancelReason).toBe('kill_switch')
    const { id: orderId } = onlyOrder(scenario)
    expect(typesOf(scenario.do({ kind: 'record-unsent', orderId, reason: 'late' }))).toEqual([
      'execution.order_canceled.v1',
    ])
    expect(scenario.state.trading.orders.ended.get(orderId)?.status).toBe('canceled')
  })

  it('lets no exit go by itself at level 3, and an operator may', () => {
    const scenario = liveScenario()
    enterLive(scenario)
    scenario.bar('BTC', 94)
    raise(scenario, 3)
    scenario.do({ kind: 'record-unsent', orderId: onlyOrder(scenario).id, reason: 'kill_switch' })
    scenario.wait(60_000)
    expect(scenario.do({ kind: 'retry-exits' })).toEqual([])
    scenario.bar('BTC', 94)
    const by = { operator: 'op', surface: 'cli' } as const
    expect(typesOf(scenario.do({ kind: 'close-position', positionId: position(scenario).id, by }))).toEqual([
      'execution.order_submitted.v1',
    ])
  })

  it('gives up an entry whose time is over', () => {
    const scenario = liveScenario()
    scenario.intend()
    scenario.wait(301_000)
    expect(payloadOf(scenario.do({ kind: 'expire-intents' }), 'execution.cancel_requested.v1')).toMatchObject(
      {
        reason: 'expired',
      },
    )
  })
})
