import { describe, expect, it } from 'vitest'
import type { Stamped } from '../../log/event.ts'
import { viewLive } from '../../views/kill-switch.ts'
import { checkedVenue, enterLive, liveScenario, onlyOrder, VENUE } from '../live.fixture.ts'
import { openPositionsOf } from '../positions/book.ts'
import { typesOf, type TradingScenario } from '../trading.fixture.ts'
import { lockedVenue } from './unrouted.ts'

const CHECK = { kind: 'check-positions' } as const

const alertsIn = (events: readonly Stamped[], cause = 'venue_not_configured') =>
  events
    .filter(({ type, payload }) => type === 'alert.execution' && payload['cause'] === cause)
    .map(({ payload }) => payload)

/** A position at the test venue, after which the settings name another venue. */
const movedAway = (venue = 'othervenue'): TradingScenario => {
  const scenario = liveScenario()
  enterLive(scenario)
  scenario.configure({ execution: { ...scenario.configuration.execution, venue } })
  return scenario
}

describe('a position at a venue that is not configured', () => {
  it.each(['othervenue', ''])(
    'is said at once, and again until it is over (execution.venue: "%s")',
    (venue) => {
      const scenario = movedAway(venue)
      const [position] = openPositionsOf(scenario.state.trading)
      const [first, ...more] = alertsIn(scenario.do(CHECK))
      expect(more).toEqual([])
      expect(first).toMatchObject({
        urgency: 'immediate',
        symbol: 'BTC',
        position_id: position?.id,
        repeat: 0,
      })
      expect(first?.['message']).toContain(`${VENUE} has the long position ${position?.id} of 4.975 BTC`)
      expect(first?.['message']).toContain(`Set execution.venue to ${VENUE}`)
      expect(alertsIn(scenario.do(CHECK))).toEqual([])
      scenario.wait(scenario.configuration.alerts.repeat_seconds * 1000)
      expect(alertsIn(scenario.do(CHECK))).toMatchObject([{ position_id: position?.id, repeat: 1 }])
      // Repeated alerts stay one open alert.
      expect(scenario.state.operations.alerts.size).toBe(1)
      scenario.configure({ execution: { ...scenario.configuration.execution, venue: VENUE } })
      scenario.wait(scenario.configuration.alerts.repeat_seconds * 1000)
      expect(alertsIn(scenario.do(CHECK))).toEqual([])
    },
  )

  it('holds back entries, and is named where live trading is shown', () => {
    const scenario = movedAway()
    const view = viewLive(scenario.state, scenario.configuration, scenario.now)
    expect(view.held_back_by).toContain('open_elsewhere')
    expect(view.reasons.find(({ code }) => code === 'open_elsewhere')?.text).toContain(
      `${VENUE} has the long`,
    )
    expect(typesOf(scenario.intend({ symbol: 'ETH' }))).toContain('execution.order_failed.v1')
    scenario.configure({ execution: { ...scenario.configuration.execution, venue: VENUE } })
    const back = viewLive(scenario.state, scenario.configuration, scenario.now)
    expect(back.held_back_by).not.toContain('open_elsewhere')
  })

  it('is not one on paper', () => {
    const scenario = liveScenario()
    scenario.configure({ execution: { ...scenario.configuration.execution, mode: 'paper', venue: '' } })
    scenario.intend()
    expect(scenario.state.trading.book.count).toBe(1)
    expect(alertsIn(scenario.do(CHECK))).toEqual([])
    expect(lockedVenue(scenario.state.trading, { venue: '' })).toEqual({})
  })
})

it('an order without a position at a venue that is not configured is said, too', () => {
  const scenario = liveScenario()
  scenario.intend()
  const { id } = onlyOrder(scenario)
  scenario.configure({ execution: { ...scenario.configuration.execution, venue: 'othervenue' } })
  expect(alertsIn(scenario.do(CHECK))).toMatchObject([{ order_id: id, position_id: null }])
})

describe('a configured venue that was not opened', () => {
  const refused = (name: 'keys' | 'venue') =>
    ({
      kind: 'record-venue-check',
      check: { venue: VENUE, checks: [{ name, ok: false, detail: 'no API key' }], symbols: [] },
    }) as const

  it.each(['keys', 'venue'] as const)(
    'is said of what is open there within a minute, and again until it is opened (%s)',
    (check) => {
      const scenario = liveScenario()
      enterLive(scenario)
      const [position] = openPositionsOf(scenario.state.trading)
      scenario.do(refused(check))
      const alerts = () => alertsIn(scenario.do(CHECK), 'venue_not_opened')
      const [first, ...more] = alerts()
      expect(more).toEqual([])
      expect(first).toMatchObject({ urgency: 'immediate', position_id: position?.id, repeat: 0 })
      expect(first?.['message']).toBe(
        `${VENUE} has the long position ${position?.id} of 4.975 BTC, but no exit or stop is sent there: no API key. ` +
          `Until then watch ${VENUE} by hand`,
      )
      expect(alerts()).toEqual([])
      scenario.wait(scenario.configuration.alerts.repeat_seconds * 1000)
      expect(alerts()).toMatchObject([{ position_id: position?.id, repeat: 1 }])
      expect(scenario.state.operations.alerts.size).toBe(1)
      scenario.do(checkedVenue(false))
      scenario.wait(scenario.configuration.alerts.repeat_seconds * 1000)
      expect(alerts()).toEqual([])
    },
  )

  it('is said of an order without a position, and not where nothing is open', () => {
    const scenario = liveScenario()
    scenario.do(refused('keys'))
    expect(alertsIn(scenario.do(CHECK), 'venue_not_opened')).toEqual([])
    scenario.do(checkedVenue())
    scenario.intend()
    const { id } = onlyOrder(scenario)
    scenario.do(refused('keys'))
    expect(alertsIn(scenario.do(CHECK), 'venue_not_opened')).toMatchObject([
      { order_id: id, position_id: null },
    ])
  })
})

it('the venue may not be changed while something is open there, and may be changed back', () => {
  const { trading } = movedAway().state
  expect(lockedVenue(trading, { venue: VENUE })).toEqual({ 'execution.venue': VENUE })
  expect(lockedVenue(trading, { venue: 'othervenue' })).toEqual({ 'execution.venue': VENUE })
  expect(lockedVenue(liveScenario().state.trading, { venue: VENUE })).toEqual({})
})
