import { builtInRun } from '../../../../test/given.fixture.ts'
import { intentId, positionId } from '../../shared/brand.ts'
import { describe, expect, it } from 'vitest'
import { barAfter, bullish, HOUR_MS, configured, say, verdictsIn } from '../../reputation/calls.fixture.ts'
import { TradingScenario, typesOf } from '../trading.fixture.ts'
import { enterLive, fillOf, liveScenario, onlyOrder, report, reportOf } from '../live.fixture.ts'
import type { KillSwitchLevel } from '../../shared/level.ts'

const by = { operator: 'svc-1', surface: 'api' } as const
const move = (level: KillSwitchLevel) => ({ level, reason: 'test', ...by })
const run = (trigger: 'api' | 'schedule') => ({ kind: 'run-cycle', cycleId: 'c', trigger }) as const
const OPENED = 'execution.position_opened.v1'
const CLOSED = 'execution.position_closed.v1'

const raise = (scenario: TradingScenario, level: KillSwitchLevel): void => {
  if (level > 0) scenario.do({ kind: 'set-kill-switch', move: move(level) })
}

/** An account that holds BTC and has a waiting intent on ETH. */
const scenarioAt = (level: KillSwitchLevel): TradingScenario => {
  const scenario = new TradingScenario()
  scenario.bars([
    ['BTC', 100],
    ['ETH', 3000],
  ])
  scenario.intend()
  scenario.intend({ cycle_id: 'waiting', symbol: 'ETH', status: 'awaiting_approval' })
  raise(scenario, level)
  return scenario
}
const signal = builtInRun('technical-analysis', 'signal.ta.v1', { symbol: 'BTC', rsi_14: 20 })

interface Expected {
  readonly run: boolean
  readonly entry: boolean
  readonly exit: 'order' | 'alert'
}

describe.each<[KillSwitchLevel, Expected]>([
  [0, { run: true, entry: true, exit: 'order' }],
  [1, { run: false, entry: true, exit: 'order' }],
  [2, { run: false, entry: false, exit: 'order' }],
  [3, { run: false, entry: false, exit: 'alert' }],
])('level %d', (level, expected) => {
  it('a cycle on request', () => {
    expect(scenarioAt(level).refusalOf(run('api'))).toBe(expected.run ? null : 'kill_switch.active')
  })

  it('a scheduled cycle says at which level it ran, and watching the regime is never refused', () => {
    const scenario = scenarioAt(level)
    const cycle = scenario.do(run('schedule')).find(({ type }) => type === 'brain.cycle.v1')
    expect(cycle?.payload['warnings']).toEqual(level === 0 ? [] : [`kill_switch_level_${level}`])
    expect(scenario.refusalOf({ kind: 'watch-regime' })).toBeNull()
  })

  it('an entry', () => {
    const types = typesOf(scenarioAt(level).intend({ symbol: 'ETH' }))
    expect(types.includes(OPENED)).toBe(expected.entry)
    expect(types.includes('execution.order_failed.v1')).toBe(!expected.entry)
  })

  it('an approval', () => {
    const decision = { intentId: intentId('waiting'), note: null, ...by }
    const scenario = scenarioAt(level)
    expect(scenario.refusalOf({ kind: 'approve-intent', decision })).toBe(
      expected.entry ? null : 'kill_switch.active',
    )
    expect(scenario.refusalOf({ kind: 'deny-intent', decision })).toBeNull()
  })

  it('an automatic exit', () => {
    const types = typesOf(scenarioAt(level).bar('BTC', 94))
    expect(types.includes(CLOSED)).toBe(expected.exit === 'order')
    expect(types).toContain('alert.stop_triggered')
  })

  it('an operator who closes, a signal, an expiry', () => {
    const [id = positionId('')] = scenarioAt(level).state.trading.positions.keys()
    expect(typesOf(scenarioAt(level).do({ kind: 'close-position', positionId: id, by }))).toContain(CLOSED)
    expect(typesOf(scenarioAt(level).do({ kind: 'close-all', by }))).toContain(CLOSED)
    expect(typesOf(scenarioAt(level).do(signal))).toContain('signal.ta.v1')
    const scenario = scenarioAt(level)
    scenario.wait(300_001)
    expect(typesOf(scenario.do({ kind: 'expire-intents' }))).toEqual(['execution.order_failed.v1'])
  })

  it('a venue that tells of fills, and a lookup', () => {
    const scenario = liveScenario()
    scenario.intend()
    const order = onlyOrder(scenario)
    scenario.do({ kind: 'mark-order-unknown', orderId: order.id, reason: 'no answer' })
    raise(scenario, level)
    const found = reportOf('filled', [fillOf('t1', 100, Number(order.quantity) / 1e8)])
    expect(typesOf(report(scenario, order, found, 1))).toEqual(
      expect.arrayContaining(['execution.order_reconciled.v1', OPENED]),
    )
  })

  it('an operator who cancels', () => {
    const scenario = liveScenario()
    enterLive(scenario)
    scenario.do({ kind: 'close-all', by })
    const { id: orderId } = onlyOrder(scenario)
    raise(scenario, level)
    const request = { orderId, operator: 'op', reason: null, surface: 'cli' } as const
    expect(scenario.refusalOf({ kind: 'cancel-order', request })).toBeNull()
  })

  it('settlement and learning', () => {
    const scenario = configured()
    scenario.bar('BTC', 100)
    say(scenario, 'ann', { ...bullish, horizon: '1h' })
    raise(scenario, level)
    expect(verdictsIn(barAfter(scenario, HOUR_MS, 110))).toMatchObject([{ hit: true }])
    expect(scenario.refusalOf({ kind: 'run-learning', cause: { trigger: 'cli' } })).toBeNull()
  })

  it('is the same after a restart', () => {
    const scenario = scenarioAt(level)
    scenario.do({
      kind: 'start',
      started: {
        version: '1',
        node_id: 'svc-1',
        public_key: 'ab',
        ephemeral: false,
        integrity: { ok: true, reason: null, first_bad_seq: null },
      },
    })
    expect(scenario.state.trading.killSwitch.level).toBe(level)
  })
})
