import { timestampAt } from '../shared/time.ts'
import { type Timestamp, timestampOf } from '../shared/brand.ts'
import { describe, expect, it } from 'vitest'
import { given, NOW, stateAfter } from '../../../test/given.fixture.ts'
import type { Command } from '../decide.ts'
import type { NewEvent, NewPayload } from '../events/catalogue.ts'
import { rowFaultOf, type ProducerReport, type ProducedSignal } from './producer-runs.ts'

const NAME = 'technical-analysis'
const row = (changes: Partial<ProducedSignal> = {}): ProducedSignal => ({
  type: 'signal.ta.v1',
  payload: { symbol: 'BTC', rsi_14: 40 },
  ts: NOW,
  dedupeKey: 'key',
  ...changes,
})
const report = (changes: Partial<ProducerReport> = {}): Command => ({
  kind: 'run-producer',
  report: {
    name: NAME,
    end: 'usable',
    rows: [row()],
    rejected: [],
    error: null,
    durationMs: 5,
    ...changes,
  },
})
const ran = (
  health: NewPayload<'producer.run.v1'>['health'],
  changes: Partial<NewPayload<'producer.run.v1'>> = {},
): NewEvent => ({
  type: 'producer.run.v1',
  source: NAME,
  payload: {
    name: NAME,
    health,
    prev_health: 'unknown',
    events_published: 0,
    duration_ms: 1,
    error: null,
    consecutive_failures: 0,
    quarantined_until: null,
    rejected: [],
    ...changes,
  },
})

describe('a run', () => {
  it('stores each signal with its attribution, then the run', () => {
    given()
      .when(report())
      .then(
        { type: 'signal.ta.v1', payload: { rsi_14: 40 } },
        { type: 'attribution.recorded.v1', payload: { producer_id: NAME, contributor_id: null } },
        { type: 'producer.run.v1', payload: { health: 'ok', prev_health: 'unknown', events_published: 1 } },
      )
  })

  it('stores signals of unweighted types without attribution', () => {
    given()
      .when(report({ rows: [row({ type: 'signal.price_alert.v1', payload: { symbol: 'BTC' } })] }))
      .then({ type: 'signal.price_alert.v1' }, { type: 'producer.run.v1' })
  })

  it.each([
    ['no signal type', { type: 'market.bar.v1' }, 'type is no signal type'],
    ['a curator signal', { type: 'signal.curator.v1' }, 'type is for contributors only'],
    [
      'a payload that does not match its type',
      { payload: { symbol: 'BTC', rsi_14: 'high' } },
      'payload.rsi_14',
    ],
    ['no symbol', { payload: {} }, 'payload.symbol'],
    ['the future', { ts: timestampOf('2026-02-21T00:00:00.000Z') }, 'ts is in the future'],
  ])('rejects a row with %s and records the reason', (_, changes, reason) => {
    given()
      .when(report({ rows: [row(), row(changes)] }))
      .then(
        { type: 'signal.ta.v1' },
        { type: 'attribution.recorded.v1' },
        {
          type: 'producer.run.v1',
          payload: {
            health: 'ok',
            events_published: 1,
            error: '1 rows were rejected',
            rejected: [{ index: 1, reason: expect.stringContaining(reason) as string }],
          },
        },
      )
  })

  it('without usable rows is degraded', () => {
    given()
      .when(report({ rows: [row({ type: 'signal.curator.v1' })] }))
      .then({ type: 'producer.run.v1', payload: { health: 'degraded', consecutive_failures: 1 } })
    given()
      .when(report({ end: 'unusable', rows: [], error: 'no depths' }))
      .then({ type: 'producer.run.v1', payload: { health: 'degraded', error: 'no depths' } })
  })

  it('without new rows is ok', () => {
    given(ran('error', { consecutive_failures: 3 }))
      .when(report({ rows: [] }))
      .then({
        type: 'producer.run.v1',
        payload: { health: 'ok', consecutive_failures: 0, prev_health: 'error' },
      })
  })

  it('of an unknown producer is refused', () => {
    given()
      .when(report({ name: 'nobody' }))
      .thenRefused('producer.not_found', { name: 'nobody' })
  })
})

describe('errors', () => {
  const failed = report({ end: 'error', rows: [], error: 'boom' })
  const errors = (count: number) =>
    Array.from({ length: count }, (_, index) => ran('error', { consecutive_failures: index + 1 }))

  it('lead to quarantine when they come in a row', () => {
    given(...errors(3))
      .when(failed)
      .then({ type: 'producer.run.v1', payload: { health: 'error' } })
    given(...errors(4))
      .when(failed)
      .then({
        type: 'producer.run.v1',
        payload: {
          health: 'quarantined',
          consecutive_failures: 5,
          quarantined_until: '2026-02-20T01:30:00.000Z',
        },
      })
  })

  it('are not ended by a degraded run, but by a good one', () => {
    given(...errors(4), ran('degraded', { consecutive_failures: 5 }))
      .when(failed)
      .then({ type: 'producer.run.v1', payload: { health: 'quarantined' } })
    given(...errors(4), ran('ok'))
      .when(failed)
      .then({ type: 'producer.run.v1', payload: { health: 'error' } })
  })

  it('in a trial run lead back to quarantine at once; a good one ends it', () => {
    const quarantined = [
      ...errors(4),
      ran('quarantined', { consecutive_failures: 5, quarantined_until: NOW }),
    ]
    given(...quarantined)
      .when(failed)
      .then({ type: 'producer.run.v1', payload: { health: 'quarantined' } })
    given(...quarantined)
      .when(report({ rows: [] }))
      .then({ type: 'producer.run.v1', payload: { health: 'ok', quarantined_until: null } })
  })
})

describe('errors now and then', () => {
  const registeredAs = (endpoint: string): NewEvent => ({
    type: 'producer.registered.v1',
    source: 'system',
    payload: { name: 'swings', domain: 'technical', endpoint, schedule: '*/5 * * * *' },
  })
  /** Runs of which every second failed, the last one this many minutes ago. */
  const everySecond = (errors: number, minutesAgo = 10): readonly NewEvent[] =>
    Array.from({ length: errors }, (_, index) => index)
      .toReversed()
      .flatMap((index) =>
        (['error', 'ok'] as const).map((health, place) => ({
          ...ran(health, { name: 'swings' }),
          source: 'swings',
          ts: timestampAt(Date.parse(NOW) - (minutesAgo + 10 * index - 5 * place) * 60_000),
        })),
      )
  const failed = report({ name: 'swings', end: 'error', rows: [], error: 'it took longer than 5 s' })
  const isSetAside = [
    { type: 'producer.run.v1', payload: { health: 'quarantined', consecutive_failures: 1 } },
    { type: 'alert.own_code', payload: { producer: 'swings', cause: 'quarantined' } },
  ] as const
  const isCounted = { type: 'producer.run.v1', payload: { health: 'error' } } as const

  it.each(['producer:swings', 'strategy:swings'])(
    'set code of the user aside, with an alert: %s',
    (endpoint) => {
      given(registeredAs(endpoint), ...everySecond(3))
        .when(failed)
        .then(isCounted)
      given(registeredAs(endpoint), ...everySecond(4))
        .when(failed)
        .then(...isSetAside)
    },
  )

  it('count for the time of 20 runs', () => {
    const own = registeredAs('producer:swings')
    // The first of them was 99 and 100 minutes ago.
    given(own, ...everySecond(4, 69))
      .when(failed)
      .then(...isSetAside)
    given(own, ...everySecond(4, 70))
      .when(failed)
      .then(isCounted)
  })

  it('from the future do not count', () => {
    given(registeredAs('producer:swings'), ...everySecond(4, -60))
      .when(failed)
      .then(isCounted)
  })

  it('again after a good trial run set it aside at once', () => {
    const quarantined = {
      ...ran('quarantined', { name: 'swings', quarantined_until: NOW }),
      source: 'swings',
    }
    const good = { ...ran('ok', { name: 'swings' }), source: 'swings' }
    given(registeredAs('producer:swings'), ...everySecond(4), quarantined, good)
      .when(failed)
      .then(...isSetAside)
  })

  it('of a service that is polled count only in a row', () => {
    given(registeredAs('https://example.com/signals'), ...everySecond(8))
      .when(failed)
      .then(isCounted)
  })
})

describe('staleness', () => {
  const quarterHours = (count: number): Timestamp => timestampAt(Date.parse(NOW) - count * 900_000)
  const ranAt = (ts: Timestamp, health: 'ok' | 'degraded' | 'error' = 'ok'): NewEvent => ({
    ...ran(health),
    ts,
  })

  it('after three intervals without a run is recorded once', () => {
    const state = given(ranAt(quarterHours(3.1)))
      .when({ kind: 'notice-stale-producers' })
      .then({ type: 'producer.run.v1', payload: { name: NAME, health: 'stale', prev_health: 'ok' } })
    expect(state.signals.producers.runs.get(NAME)).toMatchObject({
      health: 'stale',
      lastRunAt: quarterHours(3.1),
    })
    given(ranAt(quarterHours(3)))
      .when({ kind: 'notice-stale-producers' })
      .thenNothing()
    given(ranAt(quarterHours(9)), ran('stale'))
      .when({ kind: 'notice-stale-producers' })
      .thenNothing()
  })

  it('is not recorded after an error or before the first run', () => {
    given(ranAt(quarterHours(9), 'error'))
      .when({ kind: 'notice-stale-producers' })
      .thenNothing()
    given().when({ kind: 'notice-stale-producers' }).thenNothing()
    expect(stateAfter([ran('stale')]).signals.producers.runs.get(NAME)?.health).toBe('stale')
  })
})

it.each([
  ['orderbook', { symbol: 'BTC', bid_depth_usd: 1, ask_depth_usd: 2, imbalance: -0.3, more: [1] }, true],
  ['orderbook', { imbalance: 0.5 }, false],
  ['orderbook', { symbol: '', imbalance: 0.5 }, false],
  ['orderbook', { symbol: 'BTC', imbalance: 'much' }, false],
  ['orderbook', { symbol: 'BTC', imbalance: Number.NaN }, false],
  ['sentiment', { symbol: 'BTC', fear_greed: 100 }, true],
  ['sentiment', { symbol: 'BTC', fear_greed: 101 }, false],
  ['ta', { symbol: 'BTC', trend: 'bullish', rsi_14: 50 }, true],
  ['ta', { symbol: 'BTC', trend: 'up' }, false],
] as const)('looks at each member of a row: %s %o', (name, payload, isTaken) => {
  const domain = name === 'sentiment' ? 'social' : 'technical'
  const fault = rowFaultOf(row({ type: `signal.${name}.v1`, payload }), {
    now: NOW,
    skewSecondsMax: 0,
    domain,
  })
  expect(fault === null).toBe(isTaken)
})

it('says why a row is not taken', () => {
  const reasonOf = (changes: Partial<ProducedSignal>): string | null =>
    rowFaultOf(row(changes), { now: NOW, skewSecondsMax: 5, domain: 'technical' })
  expect(reasonOf({})).toBeNull()
  expect(reasonOf({ type: 'ta' })).toBe('type is no signal type')
  expect(reasonOf({ type: 'signal.curator.v1' })).toBe('type is for contributors only')
  expect(reasonOf({ type: 'signal.sentiment.v1' })).toBe('type is not one of the domain technical')
  expect(reasonOf({ ts: timestampAt(Date.parse(NOW) + 5000) })).toBeNull()
  expect(reasonOf({ ts: timestampAt(Date.parse(NOW) + 5001) })).toBe('ts is in the future')
  expect(reasonOf({ payload: { symbol: 1 } })).toMatch(/^payload\.symbol: /)
})
