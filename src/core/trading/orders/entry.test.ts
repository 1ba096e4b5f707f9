import { intentId as intentIdOf } from '../../shared/brand.ts'
import { describe, expect, it } from 'vitest'
import { TradingScenario, payloadOf, typesOf } from '../trading.fixture.ts'
import { DAY_MS } from '../../shared/time.ts'

const decisionOn = (intentId: string) =>
  ({ intentId: intentIdOf(intentId), operator: 'svc-1', note: 'fine', surface: 'api' }) as const
const level = (to: 0 | 1 | 2 | 3) =>
  ({
    kind: 'set-kill-switch',
    move: { level: to, reason: 'test', operator: 'svc-1', surface: 'api' },
  }) as const
const openScenario = (changes: ConstructorParameters<typeof TradingScenario>[0] = {}): TradingScenario => {
  const scenario = new TradingScenario(changes)
  scenario.bars([
    ['BTC', 100],
    ['ETH', 3000],
  ])
  return scenario
}
const reasonsOf = (scenario: TradingScenario, ...intent: Parameters<TradingScenario['intend']>) =>
  payloadOf(scenario.intend(...intent), 'execution.order_failed.v1')['reasons']
const statusOf = (scenario: TradingScenario, id: string) =>
  scenario.state.trading.intents.get(intentIdOf(id))?.status

it('a stop is found for a symbol whose canonical form could be shortened once more', () => {
  const scenario = new TradingScenario()
  scenario.bar('BTCUSDUSDT', 100)
  scenario.intend({ symbol: 'BTCUSDUSDT' })
  expect(typesOf(scenario.bar('BTCUSDUSDT', 90))).toContain('execution.position_closed.v1')
})

describe('a stop or target that was asked for as a price', () => {
  it.each([
    ['long', 95, 130],
    ['short', 125, 90],
  ] as const)('of a %s is at that price, however far the fill is from it', (direction, stop, target) => {
    const scenario = openScenario()
    scenario.bar('BTC', 110)
    const shares = { stop_loss_pct: 0.05, take_profit_pct: 0.3, trailing_pct: 0.05 }
    const levels = { intended_price: null, stop_price: stop, target_price: target }
    const opened = payloadOf(
      scenario.intend({ direction, ...shares, ...levels }),
      'execution.position_opened.v1',
    )
    expect(opened).toMatchObject({ stop_loss: stop, take_profit: target })
    const fill = Number(opened['entry_price'])
    expect(opened['trailing_pct']).toBeCloseTo(Math.abs(1 - stop / fill), 8)
    // 500 USD at the fill are sold at the stop, with the fee and 5 basis points of slippage.
    const lost = Number(opened['quantity']) * Math.abs(fill - stop)
    expect(Number(opened['loss_at_stop_usd']) / lost).toBeCloseTo(1, 1)
  })

  it.each([
    [{ direction: 'long', stop_price: 110.055 }, ['stop_passed']],
    [{ direction: 'long', stop_price: 90, target_price: 105 }, ['target_passed']],
    [{ direction: 'short', stop_price: 105, target_price: 112 }, ['stop_passed', 'target_passed']],
  ] as const)('is refused where the fill would be beyond it: %o', (levels, reasons) => {
    const scenario = openScenario()
    scenario.bar('BTC', 110)
    expect(reasonsOf(scenario, { intended_price: null, ...levels })).toEqual(reasons)
  })
})

describe('an order', () => {
  it('has the ids that everybody finds alike', () => {
    const scenario = openScenario()
    const cycle_id = '33333333-3333-7333-8333-333333333333'
    scenario.intend({ cycle_id })
    expect(payloadOf(scenario.log, 'execution.order_submitted.v1')).toMatchObject({
      order_id: 'afbe97fa-70ee-8ebc-86ab-330e9d2a8654',
      position_id: '7a6f5fd1-3fec-8898-920c-316e45423d1a',
      idempotency_key: 'afbe97fa70ee8ebc86ab330e9d2a8654',
      venue: 'paper',
      reduce_only: false,
      reference_price: 100,
      limits: { size_pct: 500, position: 1000, kelly: 743.75 },
    })
    scenario.bar('BTC', 90)
    const exit = scenario.log.findLast(({ type }) => type === 'execution.order_submitted.v1')
    expect(exit?.payload).toMatchObject({
      order_id: 'e2d42972-ee18-845b-9ad3-c989720af520',
      intent_id: null,
      reduce_only: true,
    })
    expect(scenario.log.find(({ type }) => type === 'execution.order_filled.v1')?.traceId).toBe(cycle_id)
  })

  it('is sent once, however often its intent is executed', () => {
    const scenario = openScenario()
    scenario.intend({ cycle_id: 'once' })
    expect(scenario.do({ kind: 'execute-intent', intentId: intentIdOf('once') })).toEqual([])
    expect(scenario.do({ kind: 'execute-intent', intentId: intentIdOf('nobody') })).toEqual([])
    expect(statusOf(scenario, 'once')).toBe('filled')
  })
})

describe('every check', () => {
  it('fires by itself', () => {
    expect(reasonsOf(openScenario({ execution: { dcg_symbols: [' btc/usdt'] } }))).toEqual(['dcg_symbol'])
    expect(reasonsOf(openScenario(), { valid_until: '2026-02-20T00:00:00.000Z' })).toEqual(['expired'])
    expect(reasonsOf(openScenario(), { symbol: 'SOL' })).toEqual(['no_price'])
    expect(reasonsOf(openScenario(), { intended_price: 99 })).toEqual(['price_moved'])
    expect(reasonsOf(openScenario(), { leverage: 3 })).toEqual(['leverage_limit'])
    expect(reasonsOf(openScenario(), { size_pct: 0.0009 })).toEqual(['size_zero'])
    expect(reasonsOf(openScenario({ risk: { max_position_pct: 0.0005 } }))).toEqual([
      'size_zero',
      'position_limit',
    ])
    expect(reasonsOf(openScenario({ risk: { max_portfolio_heat_pct: 0.00001 } }))).toEqual([
      'size_zero',
      'heat_limit',
    ])
    expect(reasonsOf(openScenario({ risk: { max_leverage: 0.0005 } }), { leverage: 0.0005 })).toEqual([
      'size_zero',
      'exposure_limit',
      'margin_limit',
    ])
    const duplicate = openScenario()
    duplicate.intend()
    expect(reasonsOf(duplicate, { symbol: 'BTC-PERP' })).toEqual(['duplicate_position'])
    const raised = openScenario()
    raised.do(level(2))
    expect(reasonsOf(raised)).toEqual(['kill_switch'])
  })

  it('of live trading fires as long as there is no venue', () => {
    expect(reasonsOf(openScenario({ execution: { mode: 'live' } }))).toEqual([
      'approval_required',
      'venue_unavailable',
    ])
  })

  it('of losses fires while they last', () => {
    const scenario = openScenario({ risk: { daily_loss_limit_pct: 0.001, max_drawdown_pct: 0.001 } })
    scenario.intend()
    scenario.bar('BTC', 94)
    // The stop has closed the position, so only an operator can end the drawdown.
    expect(reasonsOf(scenario)).toEqual(['kill_switch', 'daily_loss_limit', 'drawdown_limit'])
    scenario.do(level(0))
    expect(reasonsOf(scenario)).toEqual(['daily_loss_limit', 'drawdown_limit'])
    scenario.wait(DAY_MS)
    scenario.bar('BTC', 94)
    expect(reasonsOf(scenario)).toEqual(['drawdown_limit'])
    scenario.configure({ risk: { daily_loss_limit_pct: 0, max_drawdown_pct: 0.1 } })
    expect(typesOf(scenario.intend())).toEqual([
      'execution.order_submitted.v1',
      'execution.order_filled.v1',
      'execution.position_opened.v1',
      'system.kill_switch_rearmed.v1',
    ])
  })

  it('is made, whatever the others say', () => {
    const scenario = openScenario({ execution: { dcg_symbols: ['SOL'] }, risk: { max_leverage: 1 } })
    scenario.do(level(3))
    const events = scenario.intend({ symbol: 'SOL', valid_until: '2026-02-20T00:00:00.000Z' })
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
  const awaiting = (
    changes: Parameters<TradingScenario['intend']>[0] = {},
    scenario = openScenario(),
  ): TradingScenario => {
    expect(scenario.intend({ cycle_id: 'i', status: 'awaiting_approval', ...changes })).toEqual([])
    return scenario
  }

  it('comes before anything is sent', () => {
    const scenario = awaiting()
    expect(scenario.do({ kind: 'execute-intent', intentId: intentIdOf('i') })).toEqual([])
    expect(typesOf(scenario.do({ kind: 'approve-intent', decision: decisionOn('i') }))).toEqual([
      'execution.intent_approved.v1',
      'execution.order_submitted.v1',
      'execution.order_filled.v1',
      'execution.position_opened.v1',
    ])
    expect(scenario.refusalOf({ kind: 'approve-intent', decision: decisionOn('i') })).toBe(
      'intent.not_awaiting',
    )
    expect(scenario.refusalOf({ kind: 'deny-intent', decision: decisionOn('i') })).toBe('intent.not_awaiting')
  })

  it('may be denied', () => {
    const scenario = awaiting()
    const events = scenario.do({ kind: 'deny-intent', decision: decisionOn('i') })
    expect(payloadOf(events, 'execution.order_failed.v1')).toMatchObject({
      reasons: ['approval_denied'],
      details: { denied_by: 'svc-1' },
    })
    expect(statusOf(scenario, 'i')).toBe('rejected')
  })

  it('is refused for strangers, above level 1 and too late', () => {
    const scenario = awaiting()
    expect(scenario.refusalOf({ kind: 'approve-intent', decision: decisionOn('x') })).toBe('intent.not_found')
    expect(scenario.refusalOf({ kind: 'deny-intent', decision: decisionOn('x') })).toBe('intent.not_found')
    scenario.do(level(2))
    expect(scenario.refusalOf({ kind: 'approve-intent', decision: decisionOn('i') })).toBe(
      'kill_switch.active',
    )
    scenario.do(level(1))
    scenario.wait(300_001)
    expect(scenario.refusalOf({ kind: 'approve-intent', decision: decisionOn('i') })).toBe(
      'intent.not_awaiting',
    )
    expect(
      payloadOf(scenario.do({ kind: 'expire-intents' }), 'execution.order_failed.v1')['reasons'],
    ).toEqual(['expired'])
    expect(statusOf(scenario, 'i')).toBe('expired')
    expect(scenario.do({ kind: 'expire-intents' })).toEqual([])
  })

  it('is not even awaited for a forbidden symbol', () => {
    const scenario = openScenario({ execution: { dcg_symbols: ['BTC'] } })
    expect(typesOf(scenario.intend({ cycle_id: 'i', status: 'awaiting_approval' }))).toEqual([
      'system.dcg_violation.v1',
      'execution.order_failed.v1',
    ])
    expect(scenario.refusalOf({ kind: 'approve-intent', decision: decisionOn('i') })).toBe(
      'intent.not_awaiting',
    )
  })
})

describe('with partial fills', () => {
  const partial = () => openScenario({ execution: { paper_partial_fills: true } })

  it('an entry that is not filled in time ends with what it has', () => {
    const scenario = partial()
    scenario.intend({ cycle_id: 'i' })
    expect(reasonsOf(scenario)).toEqual(['duplicate_position'])
    scenario.bar('BTC', 100, { volume: 10 })
    expect(statusOf(scenario, 'i')).toBe('executing')
    scenario.bar('BTC', 100, { volume: 0 })
    scenario.wait(300_000)
    expect(payloadOf(scenario.do({ kind: 'expire-intents' }), 'execution.order_canceled.v1')).toMatchObject({
      reason: 'expired',
      filled_size: 1,
    })
    expect(statusOf(scenario, 'i')).toBe('filled')
    scenario.bar('BTC', 100, { volume: 10 })
    expect([...scenario.state.trading.positions.values()]).toMatchObject([{ status: 'monitoring' }])
  })

  it('an entry without any fill is rejected, and may end on a bar', () => {
    const scenario = partial()
    scenario.intend({ cycle_id: 'i' })
    scenario.wait(300_000)
    expect(typesOf(scenario.bar('BTC', 100, { volume: 10 }))).toEqual([
      'market.bar.v1',
      'execution.order_canceled.v1',
    ])
    expect(scenario.state.trading.intents.get(intentIdOf('i'))).toMatchObject({
      status: 'rejected',
      reasons: ['expired'],
    })
    expect(scenario.state.trading.positions.size).toBe(0)
  })

  it('level 2 cancels what is still entering', () => {
    const scenario = partial()
    scenario.intend({ cycle_id: 'i' })
    scenario.bar('BTC', 100, { volume: 10 })
    expect(typesOf(scenario.do(level(2)))).toEqual([
      'system.kill_switch.v1',
      'alert.kill_switch',
      'execution.order_canceled.v1',
    ])
    expect(statusOf(scenario, 'i')).toBe('filled')
  })

  it('an exit goes on until it is done, and cancels the rest of its entry', () => {
    const scenario = partial()
    scenario.intend({ cycle_id: 'i' })
    scenario.bar('BTC', 100, { volume: 20 })
    expect(typesOf(scenario.bar('BTC', 94, { volume: 0 }))).toEqual([
      'market.bar.v1',
      'execution.order_canceled.v1',
      'execution.order_submitted.v1',
    ])
    scenario.do(level(3))
    expect([...scenario.state.trading.positions.values()]).toMatchObject([{ status: 'closing' }])
    scenario.bar('BTC', 93, { volume: 15 })
    expect([...scenario.state.trading.positions.values()]).toMatchObject([{ status: 'closing' }])
    const last = scenario.bar('BTC', 92, { volume: 15 })
    expect(payloadOf(last, 'execution.position_closed.v1')).toMatchObject({
      exit_reason: 'stop_loss',
      exit_price: 92.703625,
    })
    expect(typesOf(last)).toContain('alert.stop_triggered')
  })
})
