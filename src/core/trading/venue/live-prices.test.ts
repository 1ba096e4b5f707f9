import { describe, expect, it } from 'vitest'
import { DAY_MS } from '../../shared/time.ts'
import { viewLive } from '../../views/kill-switch.ts'
import { enterLive, liveScenario, quoteVenue, VENUE } from '../live.fixture.ts'
import { payloadOf, TradingScenario, typesOf } from '../trading.fixture.ts'

const ONLY_BTC = { universe: { symbols: ['BTC'] } }
const liveOf = ({ state, configuration, now }: TradingScenario) => viewLive(state, configuration, now)
const reasonsOf = (scenario: TradingScenario, changes = {}) =>
  payloadOf(scenario.intend(changes), 'execution.order_failed.v1')['reasons']

describe('live entries need the prices of the venue', () => {
  const market = { exchange: '', file: '' }
  it.each([
    ['simulated', { ...market, feed: 'simulated' }, 'feed_simulated', 'Prices are simulated'],
    ['read from a file', { ...market, feed: 'file', file: 'x.csv' }, 'feed_file', 'Prices come from a file'],
    [
      'of another exchange',
      { ...market, feed: 'ccxt', exchange: 'elsewhere' },
      'feed_other_venue',
      'set market.exchange to testvenue',
    ],
  ] as const)('and not those that are %s', (_, changes, blocker, sentence) => {
    const scenario = liveScenario(ONLY_BTC)
    expect(liveOf(scenario).held_back_by).toEqual([])
    scenario.configure({ market: changes })
    const live = liveOf(scenario)
    expect(live).toMatchObject({ sends_entries: false, held_back_by: [blocker] })
    expect(live.reasons).toMatchObject([{ code: blocker, text: expect.stringContaining(sentence) }])
    expect(reasonsOf(scenario)).toEqual(['venue_unavailable'])
  })

  it('of the same exchange, also for its practice account', () => {
    const scenario = liveScenario()
    scenario.configure({ market: { feed: 'ccxt', exchange: VENUE } })
    expect(liveOf(scenario).held_back_by).toEqual([])
    expect(typesOf(scenario.intend())).toContain('execution.order_submitted.v1')
  })

  it('that are new enough', () => {
    const scenario = liveScenario(ONLY_BTC)
    scenario.wait(180_000)
    expect(liveOf(scenario)).toMatchObject({ sends_entries: false, held_back_by: ['price_old'] })
    expect(liveOf(scenario).reasons[0]?.text).toContain('newer than 120 s')
    expect(reasonsOf(scenario)).toContain('venue_unavailable')
    scenario.bar('BTC', 100)
    expect(liveOf(scenario).held_back_by).toEqual([])
  })

  it('that the venue agrees with', () => {
    const scenario = liveScenario(ONLY_BTC)
    quoteVenue(scenario, { BTC: 101.5 })
    const live = liveOf(scenario)
    expect(live).toMatchObject({ sends_entries: false, held_back_by: ['price_differs'] })
    expect(live.reasons.find(({ code }) => code === 'price_differs')?.text).toBe(
      'Prices differ by more than 1 % from those of testvenue (execution.max_price_difference_pct): BTC.',
    )
    expect(reasonsOf(scenario)).toEqual(['venue_unavailable'])
    // A price that deviates between two quotes is noticed, too.
    quoteVenue(scenario, { BTC: 100 })
    expect(liveOf(scenario).held_back_by).toEqual([])
    scenario.bar('BTC', 102)
    expect(liveOf(scenario).held_back_by).toEqual(['price_differs'])
    scenario.configure({ execution: { max_price_difference_pct: 0.05 } })
    expect(liveOf(scenario).held_back_by).toEqual([])
  })

  it('that the venue was asked about lately', () => {
    const scenario = liveScenario(ONLY_BTC)
    scenario.wait(360_000)
    scenario.bar('BTC', 100)
    expect(liveOf(scenario).held_back_by).toEqual(['quote_old'])
    expect(reasonsOf(scenario)).toEqual(['venue_unavailable'])
    quoteVenue(scenario, { BTC: 100 })
    expect(liveOf(scenario).held_back_by).toEqual([])
  })

  it('symbol by symbol: one that is wrong does not hold back the others', () => {
    const scenario = liveScenario({ universe: { symbols: ['BTC', 'ETH'] } })
    scenario.bar('ETH', 50)
    quoteVenue(scenario, { BTC: 100, ETH: 60 })
    const live = liveOf(scenario)
    expect(live).toMatchObject({ sends_entries: true, held_back_by: [] })
    expect(live.reasons).toMatchObject([{ code: 'price_differs', text: expect.stringContaining(': ETH.') }])
    expect(reasonsOf(scenario, { symbol: 'ETH' })).toEqual(['venue_unavailable'])
    expect(typesOf(scenario.intend())).toContain('execution.order_submitted.v1')
  })

  it('and exits never wait for them', () => {
    const scenario = liveScenario(ONLY_BTC)
    enterLive(scenario)
    scenario.configure({ market: { feed: 'simulated' } })
    quoteVenue(scenario, { BTC: 300 })
    const events = scenario.bar('BTC', 94)
    expect(payloadOf(events, 'execution.order_submitted.v1')).toMatchObject({ exit_reason: 'stop_loss' })
  })
})

describe('quotes of the venue', () => {
  it('are recorded when they moved by a part of what they may differ, or after two minutes', () => {
    const scenario = liveScenario()
    const before = scenario.log.length
    quoteVenue(scenario, { BTC: 100.2 })
    expect(scenario.log).toHaveLength(before)
    quoteVenue(scenario, { BTC: 100.3 })
    expect(scenario.log).toHaveLength(before + 1)
    scenario.wait(119_000)
    quoteVenue(scenario, { BTC: 100.3 })
    expect(scenario.log).toHaveLength(before + 1)
    scenario.wait(1000)
    quoteVenue(scenario, { BTC: 100.3 })
    expect(scenario.log).toHaveLength(before + 2)
  })
})

describe('the time on paper', () => {
  const onPaper = (feed: string): TradingScenario => {
    const scenario = new TradingScenario({
      execution: { mode: 'paper', venue: VENUE, paper_min_days: 2 },
      kill_switch: { l2_loss_streak: 0 },
    })
    scenario.feed = feed
    scenario.bar('BTC', 100)
    scenario.intend()
    return scenario
  }
  const isOver = (scenario: TradingScenario): boolean =>
    !liveOf(scenario).held_back_by.includes('paper_period')

  it.each(['simulated', 'file'])('does not begin with prices that are %s', (feed) => {
    const scenario = onPaper(feed)
    expect(scenario.state.trading.book.count).toBe(1)
    scenario.wait(30 * DAY_MS)
    expect(isOver(scenario)).toBe(false)
  })

  it('does not count days with such prices', () => {
    const scenario = onPaper('ccxt:testvenue')
    scenario.wait(2 * DAY_MS)
    expect(isOver(scenario)).toBe(true)
    const other = onPaper('ccxt:testvenue')
    other.feed = 'simulated'
    other.wait(DAY_MS)
    other.bar('BTC', 100)
    other.bar('BTC', 100)
    other.wait(DAY_MS)
    expect(isOver(other)).toBe(false)
    other.wait(DAY_MS)
    expect(isOver(other)).toBe(true)
  })
})
