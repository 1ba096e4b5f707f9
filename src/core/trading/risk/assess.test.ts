import { describe, expect, it } from 'vitest'
import { accountStatusOf } from './account.ts'
import { TradingScenario, payloadOf, typesOf } from '../trading.fixture.ts'

const lower = (to: 0 | 1 | 2) =>
  ({
    kind: 'reset-kill-switch',
    move: { level: to, reason: 'seen', operator: 'svc-1', surface: 'api' },
  }) as const

/** A position worth a tenth of the account, without a stop. */
const exposed = (changes: ConstructorParameters<typeof TradingScenario>[0] = {}): TradingScenario => {
  const scenario = new TradingScenario({
    ...changes,
    market: { max_bar_move_pct: 10 },
    kill_switch: { l2_portfolio_heat_pct: 1, l2_loss_streak: 0, ...changes.kill_switch },
    risk: { max_portfolio_heat_pct: 1, daily_loss_limit_pct: 0, ...changes.risk },
  })
  scenario.bar('BTC', 100)
  scenario.intend({ stop_loss_pct: null, take_profit_pct: null, size_pct: 0.08, conviction_score: 100 })
  return scenario
}

describe('the heat of a position', () => {
  /** Nine tenths of equity, on paper, with every other limit out of the way. */
  const nearFullSize = (stop: number | null): TradingScenario => {
    const scenario = new TradingScenario({
      market: { max_bar_move_pct: 10 },
      execution: { paper_fee_bps: 0, paper_slippage_bps: 0 },
      kill_switch: {
        l1_daily_loss_pct: 1,
        l2_portfolio_heat_pct: 1,
        l2_loss_streak: 0,
        l3_max_drawdown_pct: 1,
      },
      risk: {
        max_portfolio_heat_pct: 1,
        max_position_pct: 1,
        max_leverage: 1,
        daily_loss_limit_pct: 0,
      },
    })
    scenario.bar('BTC', 100)
    scenario.intend({
      stop_loss_pct: stop,
      take_profit_pct: null,
      size_pct: 0.9,
      sizing: 'fixed',
      leverage: 1,
    })
    return scenario
  }
  const heatOf = ({ state, now }: TradingScenario): number => accountStatusOf(state.trading, now).heat

  it('without a stop is its whole entry over the equity of now, and reaches the limit by a loss of the rest', () => {
    const scenario = nearFullSize(null)
    expect(heatOf(scenario)).toBeCloseTo(0.9, 6)
    // 9 % of equity are lost: 0.9 / 0.91.
    scenario.bar('BTC', 90)
    expect(heatOf(scenario)).toBeCloseTo(0.9 / 0.91, 6)
    expect(scenario.state.trading.killSwitch.level).toBe(0)
    expect(payloadOf(scenario.bar('BTC', 88.8), 'system.kill_switch.v1')).toMatchObject({
      level: 2,
      triggers: [{ name: 'portfolio_heat_pct', threshold: 1 }],
    })
  })

  it('with a stop is the loss there, so the same loss does not reach the limit', () => {
    const scenario = nearFullSize(0.5)
    expect(heatOf(scenario)).toBeCloseTo(0.45, 6)
    scenario.bar('BTC', 88.8)
    expect(heatOf(scenario)).toBeLessThan(0.51)
    expect(scenario.state.trading.killSwitch.level).toBe(0)
  })
})

describe('a trigger', () => {
  it('raises once, last in the batch, with its value', () => {
    const scenario = exposed()
    const events = scenario.bar('BTC', 60)
    expect(typesOf(events).slice(-2)).toEqual(['system.kill_switch.v1', 'alert.kill_switch'])
    expect(payloadOf(events, 'system.kill_switch.v1')).toMatchObject({
      level: 1,
      prev_level: 0,
      triggered_by: 'risk_monitor',
      reason: expect.stringMatching(/^daily_loss_pct=0\.0\d+$/),
      triggers: [{ name: 'daily_loss_pct', threshold: 0.03 }],
    })
    expect(typesOf(scenario.bar('BTC', 59))).not.toContain('system.kill_switch.v1')
  })

  it('names all that fire, and goes to the highest', () => {
    const scenario = exposed({ kill_switch: { l3_max_drawdown_pct: 0.03 } })
    expect(payloadOf(scenario.bar('BTC', 60), 'system.kill_switch.v1')).toMatchObject({
      level: 3,
      reason: expect.stringMatching(/^max_drawdown_pct=.*, daily_loss_pct=/),
      triggers: [{ name: 'max_drawdown_pct' }, { name: 'daily_loss_pct' }],
    })
  })

  it('does not fire again after it was acknowledged, unless it gets worse by a step', () => {
    const scenario = exposed()
    scenario.bar('BTC', 60)
    const lowered = payloadOf(scenario.do(lower(0)), 'system.kill_switch.v1')
    expect(lowered['acknowledged']).toEqual({ daily_loss_pct: expect.any(Number) })
    scenario.bar('BTC', 60)
    scenario.bar('BTC', 52)
    expect(scenario.state.trading.killSwitch.level).toBe(0)
    scenario.bar('BTC', 47)
    expect(scenario.state.trading.killSwitch.level).toBe(1)
  })

  it('fires again after it was over', () => {
    const scenario = exposed()
    scenario.bar('BTC', 60)
    scenario.do(lower(0))
    expect(payloadOf(scenario.bar('BTC', 90), 'system.kill_switch_rearmed.v1')).toEqual({
      conditions: ['daily_loss_pct'],
    })
    expect(scenario.state.trading.killSwitch.acknowledged).toEqual({})
    scenario.bar('BTC', 60)
    expect(scenario.state.trading.killSwitch.level).toBe(1)
  })

  it('by losses in a row counts anew after a lowering', () => {
    const scenario = new TradingScenario({ kill_switch: { l2_loss_streak: 2, l1_daily_loss_pct: 1 } })
    const lose = (): void => {
      scenario.bar('BTC', 100)
      scenario.intend({ size_pct: 0.01 })
      scenario.bar('BTC', 94)
    }
    lose()
    expect(scenario.state.trading.killSwitch.level).toBe(0)
    lose()
    expect(scenario.state.trading.killSwitch).toMatchObject({ level: 2, reason: 'loss_streak=2' })
    expect(payloadOf(scenario.do(lower(0)), 'system.kill_switch.v1')['acknowledged']).toEqual({
      loss_streak: 2,
    })
    lose()
    expect(scenario.state.trading.killSwitch.level).toBe(0)
    lose()
    expect(scenario.state.trading.killSwitch.level).toBe(2)
  })

  it('by crisis comes from the brain', () => {
    const crisis = new TradingScenario()
    crisis.record({
      type: 'brain.regime_change.v1',
      source: 'brain',
      payload: { regime: 'CRISIS', previous: null, evidence: { crisis_votes: 2 } },
    })
    crisis.bar('BTC', 100)
    expect(crisis.state.trading.killSwitch).toMatchObject({ level: 3, reason: 'crisis_conditions=2' })
  })

  it('looks at the configuration when it changes', () => {
    const scenario = exposed({ kill_switch: { l1_daily_loss_pct: 0.9 } })
    scenario.bar('BTC', 60)
    scenario.configure({ kill_switch: { l1_daily_loss_pct: 0.01 } })
    scenario.do({
      kind: 'record-config-change',
      change: { changed: ['kill_switch.l1_daily_loss_pct'], config_hash: 'x' },
      surface: 'api',
    })
    expect(scenario.state.trading.killSwitch.level).toBe(1)
  })
})

describe('what was never real', () => {
  it('is no peak: the bars of one moment count together', () => {
    const scenario = new TradingScenario({
      kill_switch: { l3_max_drawdown_pct: 0.01, l1_daily_loss_pct: 0.9 },
    })
    scenario.bars([
      ['BTC', 100],
      ['ETH', 100],
    ])
    for (const [symbol, direction] of [
      ['BTC', 'long'],
      ['ETH', 'short'],
    ] as const)
      scenario.intend({ symbol, direction, stop_loss_pct: 0.5, take_profit_pct: 0.9, size_pct: 0.05 })
    scenario.bars([
      ['BTC', 125],
      ['ETH', 125],
    ])
    scenario.bars([
      ['BTC', 125],
      ['ETH', 125],
    ])
    expect(scenario.state.trading.killSwitch.level).toBe(0)
  })

  it('is no halt: one absurd price is held', () => {
    const scenario = exposed({})
    scenario.configure({ market: { max_bar_move_pct: 0.3 } })
    expect(typesOf(scenario.bar('BTC', 5))).toEqual(['market.bar_held.v1'])
    expect(typesOf(scenario.bar('BTC', 100)).slice(0, 2)).toEqual(['system.audit.v1', 'market.bar.v1'])
    expect(scenario.state.trading.killSwitch.level).toBe(0)
  })
})

it('a day begins at midnight UTC with what is there', () => {
  const scenario = exposed()
  scenario.bar('BTC', 60)
  scenario.do(lower(0))
  scenario.wait(Date.parse('2026-02-21T00:00:00.000Z') - Date.parse(scenario.now))
  expect(payloadOf(scenario.bar('BTC', 59), 'system.kill_switch_rearmed.v1')).toBeDefined()
  expect(scenario.state.trading.risk.dayStart.day).toBe('2026-02-21')
})
