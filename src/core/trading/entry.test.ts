import { describe, expect, it } from 'vitest'
import { Desk, payloadOf, typesOf } from './trading.fixture.ts'
import { DAY_MS } from '../shared/time.ts'

const judgement = (intentId: string) =>
  ({ intentId, operator: 'svc-1', note: 'fine', surface: 'api' }) as const
const level = (to: 0 | 1 | 2 | 3) =>
  ({
    kind: 'set-kill-switch',
    move: { level: to, reason: 'test', operator: 'svc-1', surface: 'api' },
  }) as const
const openDesk = (changes: ConstructorParameters<typeof Desk>[0] = {}): Desk => {
  const desk = new Desk(changes)
  desk.bars([
    ['BTC', 100],
    ['ETH', 3000],
  ])
  return desk
}
const reasonsOf = (desk: Desk, ...intent: Parameters<Desk['intend']>) =>
  payloadOf(desk.intend(...intent), 'execution.order_failed.v1')['reasons']
const statusOf = (desk: Desk, id: string) => desk.state.trading.intents.get(id)?.status

describe('an order', () => {
  it('has the ids that everybody finds alike', () => {
    const desk = openDesk()
    const cycle_id = '33333333-3333-7333-8333-333333333333'
    desk.intend({ cycle_id })
    expect(payloadOf(desk.log, 'execution.order_submitted.v1')).toMatchObject({
      order_id: 'afbe97fa-70ee-8ebc-86ab-330e9d2a8654',
      position_id: '7a6f5fd1-3fec-8898-920c-316e45423d1a',
      idempotency_key: 'afbe97fa70ee8ebc86ab330e9d2a8654',
      venue: 'paper',
      reduce_only: false,
      reference_price: 100,
      limits: { size_pct: 500, position: 1000, kelly: 743.75 },
    })
    desk.bar('BTC', 90)
    const exit = desk.log.findLast(({ type }) => type === 'execution.order_submitted.v1')
    expect(exit?.payload).toMatchObject({
      order_id: 'e2d42972-ee18-845b-9ad3-c989720af520',
      intent_id: null,
      reduce_only: true,
    })
    expect(desk.log.find(({ type }) => type === 'execution.order_filled.v1')?.traceId).toBe(cycle_id)
  })

  it('is sent once, however often its intent is executed', () => {
    const desk = openDesk()
    desk.intend({ cycle_id: 'once' })
    expect(desk.do({ kind: 'execute-intent', intentId: 'once' })).toEqual([])
    expect(desk.do({ kind: 'execute-intent', intentId: 'nobody' })).toEqual([])
    expect(statusOf(desk, 'once')).toBe('filled')
  })
})

describe('every check', () => {
  it('fires by itself', () => {
    expect(reasonsOf(openDesk({ execution: { dcg_symbols: [' btc/usdt'] } }))).toEqual(['dcg_symbol'])
    expect(reasonsOf(openDesk(), { valid_until: '2026-02-20T00:00:00.000Z' })).toEqual(['expired'])
    expect(reasonsOf(openDesk(), { symbol: 'SOL' })).toEqual(['no_price'])
    expect(reasonsOf(openDesk(), { intended_price: 99 })).toEqual(['price_moved'])
    expect(reasonsOf(openDesk(), { leverage: 3 })).toEqual(['leverage_limit'])
    expect(reasonsOf(openDesk(), { size_pct: 0.0009 })).toEqual(['size_zero'])
    expect(reasonsOf(openDesk({ risk: { max_position_pct: 0.0005 } }))).toEqual([
      'size_zero',
      'position_limit',
    ])
    expect(reasonsOf(openDesk({ risk: { max_portfolio_heat_pct: 0.00001 } }))).toEqual([
      'size_zero',
      'heat_limit',
    ])
    expect(reasonsOf(openDesk({ risk: { max_leverage: 0.0005 } }), { leverage: 0.0005 })).toEqual([
      'size_zero',
      'exposure_limit',
      'margin_limit',
    ])
    const duplicate = openDesk()
    duplicate.intend()
    expect(reasonsOf(duplicate, { symbol: 'BTC-PERP' })).toEqual(['duplicate_position'])
    const raised = openDesk()
    raised.do(level(2))
    expect(reasonsOf(raised)).toEqual(['kill_switch'])
  })

  it('of live trading fires as long as there is no venue', () => {
    expect(reasonsOf(openDesk({ execution: { mode: 'live' } }))).toEqual([
      'approval_required',
      'venue_unavailable',
    ])
  })

  it('of losses fires while they last', () => {
    const desk = openDesk({ risk: { daily_loss_limit_pct: 0.001, max_drawdown_pct: 0.001 } })
    desk.intend()
    desk.bar('BTC', 94)
    expect(reasonsOf(desk)).toEqual(['daily_loss_limit', 'drawdown_limit'])
    desk.wait(DAY_MS)
    desk.bar('BTC', 94)
    expect(reasonsOf(desk)).toEqual(['drawdown_limit'])
    desk.configure({ risk: { daily_loss_limit_pct: 0, max_drawdown_pct: 0.1 } })
    expect(typesOf(desk.intend())).toHaveLength(3)
  })

  it('is made, whatever the others say', () => {
    const desk = openDesk({ execution: { dcg_symbols: ['SOL'] }, risk: { max_leverage: 1 } })
    desk.do(level(3))
    const events = desk.intend({ symbol: 'SOL', valid_until: '2026-02-20T00:00:00.000Z' })
    expect(typesOf(events)).toEqual(['system.dcg_violation.v1', 'execution.order_failed.v1'])
    expect(payloadOf(events, 'execution.order_failed.v1')['reasons']).toEqual([
      'dcg_symbol',
      'expired',
      'kill_switch',
      'no_price',
      'leverage_limit',
    ])
  })
})

describe('approval', () => {
  const awaiting = (changes: Parameters<Desk['intend']>[0] = {}, desk = openDesk()): Desk => {
    expect(desk.intend({ cycle_id: 'i', status: 'awaiting_approval', ...changes })).toEqual([])
    return desk
  }

  it('comes before anything is sent', () => {
    const desk = awaiting()
    expect(desk.do({ kind: 'execute-intent', intentId: 'i' })).toEqual([])
    expect(typesOf(desk.do({ kind: 'approve-intent', decision: judgement('i') }))).toEqual([
      'execution.intent_approved.v1',
      'execution.order_submitted.v1',
      'execution.order_filled.v1',
      'execution.position_opened.v1',
    ])
    expect(desk.refusalOf({ kind: 'approve-intent', decision: judgement('i') })).toBe('intent.not_awaiting')
    expect(desk.refusalOf({ kind: 'deny-intent', decision: judgement('i') })).toBe('intent.not_awaiting')
  })

  it('may be denied', () => {
    const desk = awaiting()
    const events = desk.do({ kind: 'deny-intent', decision: judgement('i') })
    expect(payloadOf(events, 'execution.order_failed.v1')).toMatchObject({
      reasons: ['approval_denied'],
      details: { denied_by: 'svc-1' },
    })
    expect(statusOf(desk, 'i')).toBe('rejected')
  })

  it('is refused for strangers, above level 1 and too late', () => {
    const desk = awaiting()
    expect(desk.refusalOf({ kind: 'approve-intent', decision: judgement('x') })).toBe('intent.not_found')
    expect(desk.refusalOf({ kind: 'deny-intent', decision: judgement('x') })).toBe('intent.not_found')
    desk.do(level(2))
    expect(desk.refusalOf({ kind: 'approve-intent', decision: judgement('i') })).toBe('kill_switch.active')
    desk.do(level(1))
    desk.wait(300_001)
    expect(desk.refusalOf({ kind: 'approve-intent', decision: judgement('i') })).toBe('intent.not_awaiting')
    expect(payloadOf(desk.do({ kind: 'expire-intents' }), 'execution.order_failed.v1')['reasons']).toEqual([
      'expired',
    ])
    expect(statusOf(desk, 'i')).toBe('expired')
    expect(desk.do({ kind: 'expire-intents' })).toEqual([])
  })

  it('is not even awaited for a forbidden symbol', () => {
    const desk = openDesk({ execution: { dcg_symbols: ['BTC'] } })
    expect(typesOf(desk.intend({ cycle_id: 'i', status: 'awaiting_approval' }))).toEqual([
      'system.dcg_violation.v1',
      'execution.order_failed.v1',
    ])
    expect(desk.refusalOf({ kind: 'approve-intent', decision: judgement('i') })).toBe('intent.not_awaiting')
  })
})

describe('with partial fills', () => {
  const partial = () => openDesk({ execution: { paper_partial_fills: true } })

  it('an entry that is not filled in time ends with what it has', () => {
    const desk = partial()
    desk.intend({ cycle_id: 'i' })
    expect(reasonsOf(desk)).toEqual(['duplicate_position'])
    desk.bar('BTC', 100, { volume: 10 })
    expect(statusOf(desk, 'i')).toBe('executing')
    desk.bar('BTC', 100, { volume: 0 })
    desk.wait(300_000)
    expect(payloadOf(desk.do({ kind: 'expire-intents' }), 'execution.order_canceled.v1')).toMatchObject({
      reason: 'expired',
      filled_size: 1,
    })
    expect(statusOf(desk, 'i')).toBe('filled')
    desk.bar('BTC', 100, { volume: 10 })
    expect([...desk.state.trading.positions.values()]).toMatchObject([{ status: 'monitoring' }])
  })

  it('an entry without any fill is rejected, and may end on a bar', () => {
    const desk = partial()
    desk.intend({ cycle_id: 'i' })
    desk.wait(300_000)
    expect(typesOf(desk.bar('BTC', 100, { volume: 10 }))).toEqual([
      'market.bar.v1',
      'execution.order_canceled.v1',
    ])
    expect(desk.state.trading.intents.get('i')).toMatchObject({ status: 'rejected', reasons: ['expired'] })
    expect(desk.state.trading.positions.size).toBe(0)
  })

  it('level 2 cancels what is still entering', () => {
    const desk = partial()
    desk.intend({ cycle_id: 'i' })
    desk.bar('BTC', 100, { volume: 10 })
    expect(typesOf(desk.do(level(2)))).toEqual([
      'system.kill_switch.v1',
      'alert.kill_switch',
      'execution.order_canceled.v1',
    ])
    expect(statusOf(desk, 'i')).toBe('filled')
  })

  it('an exit goes on until it is done, and cancels the rest of its entry', () => {
    const desk = partial()
    desk.intend({ cycle_id: 'i' })
    desk.bar('BTC', 100, { volume: 20 })
    expect(typesOf(desk.bar('BTC', 94, { volume: 0 }))).toEqual([
      'market.bar.v1',
      'execution.order_canceled.v1',
      'execution.order_submitted.v1',
    ])
    desk.do(level(3))
    expect([...desk.state.trading.positions.values()]).toMatchObject([{ status: 'closing' }])
    desk.bar('BTC', 93, { volume: 15 })
    expect([...desk.state.trading.positions.values()]).toMatchObject([{ status: 'closing' }])
    const last = desk.bar('BTC', 92, { volume: 15 })
    expect(payloadOf(last, 'execution.position_closed.v1')).toMatchObject({
      exit_reason: 'stop_loss',
      exit_price: 92.703625,
    })
    expect(typesOf(last)).toContain('alert.stop_triggered')
  })
})
