import { describe, expect, it } from 'vitest'
import { accountStatusOf } from './trading/risk/account.ts'
import { openPositionsOf } from './trading/positions/book.ts'
import { isOver } from './trading/orders/intents.ts'
import { TradingScenario, typesOf } from './trading/trading.fixture.ts'
import { isLearningDue } from './brain/learning.ts'
import { markOf, marketView } from './market/readings.ts'
import { mayRun } from './signals/producers.ts'
import { canonicalSymbol } from './shared/symbol.ts'
import { DAY_MS, hasPassed, isFromFuture, timestampAt } from './shared/time.ts'

const BTC = canonicalSymbol('BTC')
const YEAR_MS = 365 * DAY_MS
const HOUR_MS = 3_600_000
const TRUST = { maxAgeMs: 180_000, producers: ['ticker'] }

/** A scenario whose clock was ahead for three minutes, in which something happened, and is right again. */
const afterWrongClock = (
  aheadMs: number,
  meanwhile: (scenario: TradingScenario) => void,
): TradingScenario => {
  const scenario = new TradingScenario()
  scenario.bar('BTC', 100)
  scenario.wait(aheadMs)
  scenario.bar('BTC', 101)
  meanwhile(scenario)
  scenario.wait(-aheadMs)
  return scenario
}
const nothing = (): void => undefined
const prices = ({ state }: TradingScenario, nowMs: number) => markOf(state.market, BTC, nowMs, TRUST)

describe.each([
  ['an hour', HOUR_MS],
  ['a year', YEAR_MS],
])('a log that holds a time %s ahead', (_, aheadMs) => {
  it('does not let receive times decrease', () => {
    const scenario = afterWrongClock(aheadMs, nothing)
    scenario.bar('BTC', 102)
    scenario.bar('BTC', 103)
    const times = scenario.log.map(({ recordedAt }) => recordedAt)
    expect(times).toEqual(times.toSorted())
    expect(scenario.log.at(-1)?.ts).toBe(scenario.now)
  })

  it('does not trade on a price from the future', () => {
    const scenario = afterWrongClock(aheadMs, nothing)
    expect(prices(scenario, Date.parse(scenario.now))).toBeNull()
    expect(marketView(scenario.state.market, ['BTC'], Date.parse(scenario.now)).symbols).toEqual([])
  })

  it('takes the next bars, in their order, and trades on them', () => {
    const scenario = afterWrongClock(aheadMs, nothing)
    expect(typesOf(scenario.bar('BTC', 102))).toContain('market.bar.v1')
    expect(typesOf(scenario.bar('BTC', 103))).toContain('market.bar.v1')
    expect(prices(scenario, Date.parse(scenario.now))).toMatchObject({ atMs: Date.parse(scenario.now) })
    const { symbols } = marketView(scenario.state.market, ['BTC'], Date.parse(scenario.now))
    expect(symbols[0]?.analysisBars.every(({ openMs }) => openMs < Date.parse(scenario.now))).toBe(true)
    // A repeated bar is still refused.
    scenario.wait(-60_000)
    expect(scenario.bar('BTC', 104).map(({ payload }) => payload)).toMatchObject([{ reason: 'repeated' }])
  })

  it('closes a position at its stop, also one that was opened ahead', () => {
    const scenario = afterWrongClock(aheadMs, (ahead) => ahead.intend())
    expect(openPositionsOf(scenario.state.trading)).toHaveLength(1)
    expect(openPositionsOf(scenario.state.trading)[0]?.terms.openedAt).toBe(scenario.recordedAt)
    // The stop triggers within the bar, not only at its close.
    const events = scenario.bar('BTC', 100, { open: 100, low: 90, high: 101 })
    expect(typesOf(events)).toContain('execution.position_closed.v1')
    expect(openPositionsOf(scenario.state.trading)).toEqual([])
  })

  it('begins the day of the account anew, and counts its loss', () => {
    const scenario = afterWrongClock(aheadMs, (ahead) => ahead.intend())
    scenario.bar('BTC', 101)
    const { equity } = accountStatusOf(scenario.state.trading, scenario.now)
    scenario.bar('BTC', 98)
    scenario.do({ kind: 'check-positions' })
    const status = accountStatusOf(scenario.state.trading, scenario.now)
    expect(status.equity).toBeLessThan(equity)
    expect(status.dayLoss).toBeGreaterThan(0)
    expect(scenario.state.trading.risk.dayStart.day).toBe(scenario.now.slice(0, 10))
  })
})

describe('the clock one hour ahead, then right, on a feed that makes the same bars again', () => {
  it('stores them under keys of their own', () => {
    const scenario = afterWrongClock(HOUR_MS, (ahead) => {
      ahead.bar('BTC', 101)
      ahead.bar('BTC', 102)
    })
    for (let minute = 0; minute < 70; minute += 1) scenario.bar('BTC', 103)
    const keys = scenario.log.flatMap(({ dedupeKey }) => dedupeKey ?? [])
    expect(keys).toHaveLength(74)
    expect(new Set(keys).size).toBe(74)
    // Once time has caught up, the keys have their usual form again.
    expect(keys.at(-1)).toBe(`bar:ccxt:testvenue:BTC:60:${timestampAt(Date.parse(scenario.now) - 60_000)}`)
    expect(scenario.state.market.symbols.get(BTC)?.repeatedUntil).toBeNull()
  })
})

describe('what waits', () => {
  const now = timestampAt(Date.UTC(2026, 1, 20))
  const ahead = timestampAt(Date.parse(now) + YEAR_MS)

  it('does not wait for a time from the future', () => {
    expect(hasPassed(1000, ahead, now)).toBe(true)
    expect(hasPassed(1000, now, now)).toBe(false)
    expect(isFromFuture(Date.parse(now) + 9000, Date.parse(now))).toBe(false)
    expect(isFromFuture(Date.parse(now) + 11_000, Date.parse(now))).toBe(true)
  })

  it('for approval ends at once if it would last longer than anything may', () => {
    expect(isOver({ valid_until: ahead }, now)).toBe(true)
    expect(isOver({ valid_until: timestampAt(Date.parse(now) + 7 * DAY_MS) }, now)).toBe(false)
    expect(isOver({ valid_until: timestampAt(Date.parse(now) - 1) }, now)).toBe(true)
  })

  it('in quarantine runs again if a wrong clock began it', () => {
    const record = {
      health: 'quarantined' as const,
      lastRunAt: ahead,
      quarantinedUntil: timestampAt(Date.parse(ahead) + HOUR_MS),
    }
    expect(mayRun(record as never, now)).toBe(true)
    expect(mayRun({ ...record, lastRunAt: now } as never, now)).toBe(false)
  })

  it('for learning does not wait for a run of the future', () => {
    const learning = { lastRun: { at: ahead }, beganAt: now } as never
    const dueMs = Date.parse(now)
    expect(isLearningDue(learning, dueMs, dueMs + 7 * DAY_MS)).toBe(true)
    expect(isLearningDue(learning, dueMs, Date.parse(ahead) + 1)).toBe(false)
  })
})

describe('a jump of the clock', () => {
  it('is an event and an alert, and raises the kill switch to 1', () => {
    const scenario = new TradingScenario()
    const jump = {
      node_id: 'n1' as never,
      cause: 'wall_clock',
      jump_seconds: -3600,
      limit_seconds: 10,
      wall_clock: scenario.now,
      log_time: scenario.now,
    } as const
    const events = scenario.do({ kind: 'record-clock-jump', jump })
    expect(typesOf(events)).toEqual([
      'system.clock_jumped.v1',
      'alert.clock_jump',
      'system.kill_switch.v1',
      'alert.kill_switch',
    ])
    expect(scenario.state.trading.killSwitch).toMatchObject({ level: 1, reason: 'clock_jumped' })
  })
})
