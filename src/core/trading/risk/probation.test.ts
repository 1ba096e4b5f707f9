import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../../config/validate.ts'
import { intentId } from '../../shared/brand.ts'
import { DAY_MS } from '../../shared/time.ts'
import { equityOf } from './account.ts'
import { usdNumber } from '../../shared/money.ts'
import type { Stamped } from '../../log/event.ts'
import type { KellyRules } from './kelly.ts'
import { enterLive, fillOf, liveScenario, onlyOrder, quoteVenue, report, reportOf } from '../live.fixture.ts'
import { payloadOf, TradingScenario, typesOf } from '../trading.fixture.ts'

const ORDERED = 'execution.order_submitted.v1'
const FAILED = 'execution.order_failed.v1'

const scenarioWith = (kelly: Partial<KellyRules> = {}): TradingScenario => {
  const scenario = new TradingScenario({ kill_switch: { l2_loss_streak: 0 } })
  scenario.configure({ risk: { kelly: { ...scenario.configuration.risk.kelly, ...kelly } } })
  return scenario
}

/** Five times bought and sold again at a price that is a little lower: about a dollar each. */
const loseFiveTimes = (scenario: TradingScenario): void => {
  for (let trade = 0; trade < 5; trade += 1) {
    scenario.bar('BTC', 100)
    expect(typesOf(scenario.intend())).toContain(ORDERED)
    scenario.do({ kind: 'close-all', by: { operator: 'op', surface: 'cli' } })
  }
  scenario.bar('BTC', 100)
}

const failureOf = (events: readonly Stamped[]) => payloadOf(events, FAILED)

describe('after five small losses', () => {
  it('trading goes on at the floor size, and says so', () => {
    const scenario = scenarioWith()
    loseFiveTimes(scenario)
    const equity = usdNumber(equityOf(scenario.state.trading))
    const order = payloadOf(scenario.intend({ cycle_id: 'sixth' }), ORDERED)
    expect(order['size_notional']).toBeCloseTo(0.005 * equity, 5)
    expect(order['sizing']).toMatchObject({
      probation: true,
      bound_by: ['kelly'],
      kelly_stake: 0,
      prior_stake: 0.0875,
      kelly_usd: 0,
      floor_usd: order['size_notional'],
    })
    expect(scenario.state.trading.intents.get(intentId('sixth'))).toMatchObject({
      status: 'filled',
      reasons: ['probation_size'],
    })
  })

  it('others are sized by their own trades', () => {
    const scenario = scenarioWith()
    const propose = (rule: string, symbol: string) =>
      payloadOf(
        scenario.do({
          kind: 'propose-trade',
          proposal: { rule, symbol, direction: 'long', conviction: 75 },
        }),
        ORDERED,
      )
    for (let trade = 0; trade < 5; trade += 1) {
      scenario.bar('BTC', 100)
      propose('unlucky', 'BTC')
      scenario.do({ kind: 'close-all', by: { operator: 'op', surface: 'cli' } })
    }
    scenario.bars([
      ['BTC', 100],
      ['ETH', 100],
      ['SOL', 100],
    ])
    expect(propose('unlucky', 'BTC')['sizing']).toMatchObject({ probation: true, kelly_stake: 0 })
    const fresh = { probation: false, evidence_trades: 0, kelly_stake: 0.0875 }
    expect(propose('other', 'ETH')['sizing']).toMatchObject(fresh)
    expect(payloadOf(scenario.intend({ symbol: 'SOL' }), ORDERED)['sizing']).toMatchObject(fresh)
  })

  it('the first orders were of full size, without a word', () => {
    const scenario = scenarioWith()
    scenario.bar('BTC', 100)
    const order = payloadOf(scenario.intend({ cycle_id: 'first' }), ORDERED)
    expect(order).toMatchObject({
      size_notional: 500,
      sizing: { probation: false, bound_by: ['size_pct'], evidence_trades: 0, win_chance: 0.55, payoff: 1.2 },
    })
    expect(scenario.state.trading.intents.get(intentId('first'))?.reasons).toEqual([])
  })

  it('without a floor nothing is traded until they have faded', () => {
    const scenario = scenarioWith({ floor: 0 })
    loseFiveTimes(scenario)
    const failure = failureOf(scenario.intend())
    expect(failure['reasons']).toEqual(['size_zero'])
    expect(failure['details']).toMatchObject({
      limits: { kelly: 0 },
      sizing: { kelly_stake: 0, floor_usd: 0 },
    })
    scenario.wait(8 * DAY_MS)
    scenario.bar('BTC', 100)
    expect(payloadOf(scenario.intend(), ORDERED)['sizing']).toMatchObject({ probation: false })
  })

  it('a floor below the smallest order is named, until they have faded', () => {
    const scenario = scenarioWith({ floor: 0.0009 })
    loseFiveTimes(scenario)
    const failure = failureOf(scenario.intend())
    expect(failure['reasons']).toEqual(['size_zero', 'below_minimum'])
    expect(failure['details']).toMatchObject({ sizing: { probation: true } })
    scenario.wait(30 * DAY_MS)
    scenario.bar('BTC', 100)
    expect(typesOf(scenario.intend())).toContain(ORDERED)
  })

  it('the floor is not above any limit', () => {
    for (const [name, risk, leverage] of [
      ['position', { max_position_pct: 0.002 }, 2],
      ['heat', { max_portfolio_heat_pct: 0.0001 }, 2],
      ['margin', { max_leverage: 0.002 }, 0.002],
    ] as const) {
      const scenario = scenarioWith()
      loseFiveTimes(scenario)
      scenario.configure({ risk })
      const { size_notional, sizing } = payloadOf(scenario.intend({ leverage }), ORDERED)
      expect(size_notional).toBeLessThan(25)
      expect(sizing).toMatchObject({ probation: true, bound_by: expect.arrayContaining([name]) })
    }
    const scenario = scenarioWith()
    loseFiveTimes(scenario)
    expect(payloadOf(scenario.intend({ size_pct: 0.002 }), ORDERED)['sizing']).toMatchObject({
      bound_by: ['size_pct'],
    })
  })

  it('no floor trades what was never believed in', () => {
    for (const kelly of [{ fraction: 0 }, { p: 0.4 }]) {
      const scenario = scenarioWith(kelly)
      scenario.bar('BTC', 100)
      expect(failureOf(scenario.intend())['reasons']).toEqual(['size_zero'])
    }
  })
})

it('at a venue the floor is real money: sent only if the venue takes so little', () => {
  const scenario = liveScenario({ kill_switch: { l2_loss_streak: 0 } })
  const lose = (): void => {
    enterLive(scenario)
    scenario.do({ kind: 'close-all', by: { operator: 'op', surface: 'cli' } })
    const exit = onlyOrder(scenario)
    const sold = fillOf(`x-${exit.id}`, 99.8, Number(exit.quantity) / 1e8)
    report(scenario, exit, reportOf('filled', [sold]))
    scenario.bar('BTC', 100)
    quoteVenue(scenario, { BTC: 100 })
  }
  for (let trade = 0; trade < 5; trade += 1) lose()
  scenario.configure({ execution: { min_notional_usd: 0 } })
  const { kelly } = scenario.configuration.risk
  scenario.configure({ risk: { kelly: { ...kelly, floor: 0.0004 } } })
  expect(failureOf(scenario.intend())['reasons']).toEqual(['size_zero', 'below_minimum'])
  scenario.configure({ risk: { kelly } })
  const order = payloadOf(scenario.intend(), ORDERED)
  expect(order['sizing']).toMatchObject({ probation: true })
  expect(order['size_notional']).toBeLessThanOrEqual(50)
})

interface Losses {
  readonly floor: number
  readonly falls: readonly { readonly fall: number; readonly days: number }[]
}

const losses: fc.Arbitrary<Losses> = fc.record({
  floor: fc.constantFrom(0, 0.001, 0.005),
  falls: fc.array(
    fc.record({
      fall: fc.double({ min: 0, max: 0.9, noNaN: true }),
      days: fc.constantFrom(0, 0, 0, 1, 10),
    }),
    { maxLength: 40 },
  ),
})

/** Each trade loses at least its costs. An operator lowers the kill switch whenever it was raised. */
const lose = ({ floor, falls }: Losses): TradingScenario => {
  const scenario = new TradingScenario()
  scenario.configure({ risk: { kelly: { ...scenario.configuration.risk.kelly, floor } } })
  for (const { fall, days } of falls) {
    scenario.bar('BTC', 100)
    scenario.intend()
    scenario.bar('BTC', 100 * (1 - fall))
    scenario.do({ kind: 'close-all', by: { operator: 'op', surface: 'cli' } })
    lowerKillSwitch(scenario)
    scenario.wait(days * DAY_MS)
  }
  return scenario
}

const lowerKillSwitch = (scenario: TradingScenario): void => {
  if (scenario.state.trading.killSwitch.level === 0) return
  const move = { level: 0, reason: 'looked at it', operator: 'op', surface: 'cli' } as const
  scenario.do({ kind: 'set-kill-switch', move })
}

it('no sequence of losses ends trading, unless the kill switch has said so', () => {
  fc.assert(
    fc.property(losses, (given) => {
      const scenario = lose(given)
      // Another day suffices at the default floor. Below the smallest order only time helps.
      scenario.wait((given.floor < DEFAULT_CONFIGURATION.risk.kelly.floor ? 91 : 1) * DAY_MS)
      // The bar comes twice, because a price far from the last one must be confirmed.
      scenario.bar('BTC', 100)
      scenario.bar('BTC', 100)
      lowerKillSwitch(scenario)
      const events = scenario.intend()
      if (typesOf(events).includes(ORDERED)) return
      expect(failureOf(events)['reasons']).toEqual(['drawdown_limit'])
      const raises = scenario.log.filter(({ type }) => type === 'system.kill_switch.v1')
      expect(raises.map(({ payload }) => payload['reason'])).toContainEqual(
        expect.stringMatching(/max_drawdown_pct|drawdown_limit/),
      )
    }),
    { numRuns: 60 },
  )
})

describe('a drawdown at which entries are refused for good', () => {
  it('raises the kill switch once nothing is held that could recover, and says why', () => {
    const scenario = scenarioWith()
    scenario.configure({ risk: { max_drawdown_pct: 0.0005 } })
    scenario.bar('BTC', 100)
    expect(typesOf(scenario.intend())).toContain(ORDERED)
    scenario.bar('BTC', 99)
    expect(scenario.state.trading.killSwitch.level).toBe(0)
    scenario.do({ kind: 'close-all', by: { operator: 'op', surface: 'cli' } })
    scenario.bar('BTC', 99)
    expect(scenario.state.trading.killSwitch).toMatchObject({ level: 2 })
    expect(scenario.state.trading.killSwitch.reason).toContain('drawdown_limit')
  })
})
