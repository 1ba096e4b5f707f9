import { builtInRun } from '../../../test/given.fixture.ts'
import { contributorId, signalId, callId, type SignalId, type CallId } from '../shared/brand.ts'
import { timestampAt } from '../shared/time.ts'
import { Map as PersistentMap } from 'immutable'
import { describe, expect, it } from 'vitest'
import { HOUR_MS, configured, say, bullish, verdictsIn, recordOf, barAfter } from './calls.fixture.ts'
import { BEGIN, payloadOf } from '../trading/trading.fixture.ts'
import type { KnownEvent } from '../events/catalogue.ts'
import { CALL_SIGNALS_MAX, evolveCalls, SIGNALS_MAX } from './calls.ts'
import { isAnyOverdue } from './settle-calls.ts'
import type { JsonObject } from '../shared/json.ts'

describe('a call', () => {
  it('is opened by a signal at the price of that moment', () => {
    const scenario = configured()
    scenario.bar('BTC', 100)
    const attribution = say(scenario, 'ann', bullish)
    expect(attribution).toMatchObject({
      direction: 'bullish',
      probability: 0.9,
      horizon: '24h',
      due_at: timestampAt(Date.parse(scenario.now) + 24 * HOUR_MS),
      ref_price: 100,
      ref_sigma: null,
    })
    expect(attribution['call_id']).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('is made by the evidence of a measurement', () => {
    const scenario = configured()
    scenario.bar('BTC', 100)
    const emit = (payload: JsonObject) =>
      payloadOf(
        scenario.do(builtInRun('technical-analysis', 'signal.ta.v1', payload, { ts: scenario.now })),
        'attribution.recorded.v1',
      )
    expect(emit({ symbol: 'BTC', rsi_14: 40 })).toMatchObject({
      direction: 'bullish',
      probability: 0.75,
      horizon: '4h',
      ref_price: 100,
    })
    expect(emit({ symbol: 'BTC', rsi_14: 49 })).toMatchObject({ direction: 'neutral', probability: 0.525 })
    expect(emit({ symbol: 'BTC' })).toMatchObject({ direction: null, call_id: null, probability: null })
  })

  it('is not made without a symbol or a direction', () => {
    const scenario = configured()
    for (const payload of [{ symbol: '' }, { symbol: 'global' }, { direction: null }, { direction: 'up' }]) {
      expect(say(scenario, 'ann', { ...bullish, ...payload })).toMatchObject({ call_id: null, due_at: null })
    }
    expect(scenario.state.reputation.calls.open.size).toBe(0)
  })

  it('takes the horizon it asks for, if it is one', () => {
    const scenario = configured()
    expect(say(scenario, 'ann', { ...bullish, horizon: '1h' })).toMatchObject({ horizon: '1h' })
    expect(say(scenario, 'bob', { ...bullish, horizon: '2h' })).toMatchObject({ horizon: '24h' })
  })

  it('is joined by signals of the same author, symbol and direction, and by no others', () => {
    const scenario = configured()
    scenario.bar('BTC', 100)
    const first = say(scenario, 'ann', bullish)
    scenario.bar('BTC', 110)
    const same = say(scenario, 'ann', { direction: 'bullish', conviction: 2, symbol: 'btc/usdt' })
    expect(same).toMatchObject({ call_id: first['call_id'], ref_price: 100, due_at: first['due_at'] })
    const others = [
      say(scenario, 'ann', { direction: 'bearish' }),
      say(scenario, 'ann', { ...bullish, symbol: 'ETH' }),
      say(scenario, 'bob', bullish),
    ]
    expect(new Set([first, ...others].map(({ call_id }) => call_id)).size).toBe(4)
    expect(scenario.state.reputation.calls.open.size).toBe(4)
  })

  it('remembers its first and its newest signals', () => {
    const scenario = configured()
    const ids = Array.from({ length: CALL_SIGNALS_MAX + 5 }, () => say(scenario, 'ann', bullish)['signal_id'])
    const [call] = [...scenario.state.reputation.calls.open.values()]
    expect(call?.signalIds).toEqual([ids[0], ...ids.slice(1 - CALL_SIGNALS_MAX)])
    expect(scenario.state.reputation.calls.ofSignal.size).toBe(CALL_SIGNALS_MAX)
  })

  it('remembers its first and its newest signal alone while there are too many of all calls', () => {
    const scenario = configured()
    const said = say(scenario, 'ann', bullish)
    const others = Array.from({ length: SIGNALS_MAX }, (_, index): [SignalId, CallId] => [
      signalId(`s${index}`),
      callId('others'),
    ])
    const full = {
      ...scenario.state.reputation.calls,
      ofSignal: scenario.state.reputation.calls.ofSignal.merge(PersistentMap(others)),
    }
    const repeated = (id: string) =>
      ({ type: 'attribution.recorded.v1', payload: { ...said, signal_id: id } }) as unknown as KnownEvent
    const after = ['a', 'b', 'c'].map(repeated).reduce(evolveCalls, full)
    expect(after.open.first()?.signalIds).toEqual([said['signal_id'], 'c'])
    expect([
      after.ofSignal.size,
      after.ofSignal.has(signalId('a')),
      after.ofSignal.has(signalId('c')),
    ]).toEqual([SIGNALS_MAX + 2, false, true])
  })

  it('is opened once by several rows of one run', () => {
    const scenario = configured()
    const row = (rsi: number, key: string) => ({
      type: 'signal.ta.v1',
      payload: { symbol: 'BTC', rsi_14: rsi },
      ts: scenario.now,
      dedupeKey: key,
    })
    scenario.do({
      kind: 'run-producer',
      report: {
        name: 'technical-analysis',
        end: 'usable',
        rows: [row(30, 'a'), row(35, 'b'), row(70, 'c')],
        rejected: [],
        error: null,
        durationMs: 1,
      },
    })
    expect(scenario.state.reputation.calls.open.size).toBe(2)
  })
})

describe('a call that nobody trades on', () => {
  it('is decided by the first close from its time on', () => {
    const scenario = configured()
    scenario.bar('BTC', 100)
    const { call_id, signal_id } = say(scenario, 'ann', bullish)
    expect(verdictsIn(barAfter(scenario, 24 * HOUR_MS - 60_000, 150))).toEqual([])
    const [verdict] = verdictsIn(scenario.bar('BTC', 101))
    expect(verdict).toEqual({
      call_id,
      signal_ids: [signal_id],
      producer_id: 'ann',
      contributor_id: 'id of ann',
      symbol: 'BTC',
      direction: 'bullish',
      resolved_by: 'horizon',
      position_id: null,
      ref_price: 100,
      exit_price: 101,
      return_pct: 0.01,
      band_pct: 0.0022,
      hit: true,
      base_rate: 0.4,
      void_reason: null,
      horizon: '24h',
      opened_at: timestampAt(Date.parse(BEGIN) + 60_000),
      due_at: scenario.now,
      probability: 0.9,
    })
    expect(verdictsIn(scenario.bar('BTC', 102))).toEqual([])
    expect(recordOf(scenario, 'ann')).toMatchObject({ resolved: 1, profitable: 1, weightSum: 2 })
    expect(recordOf(scenario, 'ann')?.brierSum).toBeCloseTo(0.01, 12)
    expect(scenario.state.reputation.calls).toMatchObject({
      open: expect.objectContaining({ size: 0 }),
      current: expect.objectContaining({ size: 0 }),
      ofSignal: expect.objectContaining({ size: 0 }),
    })
  })

  it('is judged by the median of the last closes: a price driven up for the deciding bar moves nothing', () => {
    const exitAfter = (closes: readonly number[], last: number): unknown => {
      const scenario = configured()
      scenario.bar('BTC', 100)
      say(scenario, 'ann', bullish)
      scenario.wait(24 * HOUR_MS - (closes.length + 1) * QUARTER_MS)
      for (const close of closes) barAfter(scenario, QUARTER_MS, close)
      return verdictsIn(barAfter(scenario, QUARTER_MS, last))[0]
    }
    const QUARTER_MS = HOUR_MS / 4
    const steady = Array.from({ length: 8 }, () => 100)
    expect(exitAfter(steady, 104)).toMatchObject({ exit_price: 100, return_pct: 0, hit: false })
    expect(
      exitAfter(
        steady.map((close, index) => (index < 4 ? close : 104)),
        104,
      ),
    ).toMatchObject({ exit_price: 104, hit: true })
    // Without bars in between, only the deciding close counts.
    expect(exitAfter([], 104)).toMatchObject({ exit_price: 104, hit: true })
  })

  it('hits by its direction, and base rates count the case afterwards', () => {
    const scenario = configured()
    scenario.bar('BTC', 100)
    say(scenario, 'ann', { direction: 'bearish', conviction: 4 })
    say(scenario, 'ann', { direction: 'neutral' })
    say(scenario, 'bob', bullish)
    const verdicts = verdictsIn(barAfter(scenario, 24 * HOUR_MS, 99))
    expect(verdicts.map(({ direction, hit, base_rate }) => [direction, hit, base_rate])).toEqual([
      ['bearish', true, 0.4],
      ['neutral', false, 0.2],
      ['bullish', false, 0.4],
    ])
    expect(scenario.state.reputation.calls.rates.moves['24h']).toEqual({ up: 0, flat: 0, down: 3 })
    expect(recordOf(scenario, 'ann')).toMatchObject({ resolved: 2, profitable: 1 })
  })

  it('is void without a reference price', () => {
    const scenario = configured()
    say(scenario, 'ann', bullish)
    const [verdict] = verdictsIn(barAfter(scenario, 24 * HOUR_MS, 100))
    expect(verdict).toMatchObject({ hit: null, void_reason: 'no_price', base_rate: null, return_pct: null })
    expect(recordOf(scenario, 'ann')).toMatchObject({ resolved: 0 })
    expect(scenario.state.reputation.outcomes.byAuthor.size).toBe(0)
  })

  it('is void when no bar comes in time, be it by a late bar or by the clock', () => {
    const late = configured()
    late.bar('BTC', 100)
    say(late, 'ann', bullish)
    const [verdict] = verdictsIn(barAfter(late, 24 * HOUR_MS + 1_860_000, 110))
    expect(verdict).toMatchObject({ hit: null, void_reason: 'no_bar', exit_price: null })
    const silent = configured()
    silent.bar('BTC', 100)
    say(silent, 'ann', bullish)
    silent.wait(24 * HOUR_MS + 1_800_000)
    const { settlement } = silent.configuration
    expect(isAnyOverdue(silent.state.reputation.calls, silent.now, settlement)).toBe(false)
    expect(silent.do({ kind: 'settle-overdue' })).toEqual([])
    silent.wait(1)
    expect(isAnyOverdue(silent.state.reputation.calls, silent.now, settlement)).toBe(true)
    expect(verdictsIn(silent.do({ kind: 'settle-overdue' }))).toMatchObject([{ void_reason: 'no_bar' }])
    expect(isAnyOverdue(silent.state.reputation.calls, silent.now, settlement)).toBe(false)
  })

  it('is decided within the grace', () => {
    const scenario = configured()
    scenario.bar('BTC', 100)
    say(scenario, 'ann', bullish)
    expect(verdictsIn(barAfter(scenario, 24 * HOUR_MS + 1_800_000, 110))).toMatchObject([{ hit: true }])
  })

  it('is over at its time: what is said then opens the next', () => {
    const scenario = configured()
    scenario.bar('BTC', 100)
    const first = say(scenario, 'ann', bullish)
    scenario.wait(24 * HOUR_MS)
    const second = say(scenario, 'ann', bullish)
    expect(second['call_id']).not.toBe(first['call_id'])
    expect(scenario.state.reputation.calls.open.size).toBe(2)
    expect(verdictsIn(scenario.bar('BTC', 101))).toMatchObject([{ call_id: first['call_id'] }])
    expect(say(scenario, 'ann', bullish)).toMatchObject({ call_id: second['call_id'] })
  })

  it('is settled after its contributor was removed', () => {
    const scenario = configured()
    scenario.bar('BTC', 100)
    say(scenario, 'ann', bullish)
    scenario.do({ kind: 'remove-contributor', id: contributorId('id of ann'), surface: 'api' })
    expect(verdictsIn(barAfter(scenario, 24 * HOUR_MS, 101))).toMatchObject([{ hit: true }])
    expect(recordOf(scenario, 'ann')).toMatchObject({ resolved: 1, profitable: 1 })
  })

  it('is not decided by bars of the past or of other symbols', () => {
    const scenario = configured()
    scenario.bar('BTC', 100)
    say(scenario, 'ann', bullish)
    scenario.wait(24 * HOUR_MS)
    expect(verdictsIn(scenario.bar('ETH', 100))).toEqual([])
    expect(verdictsIn(scenario.bar('BTC', 101, { backfill: true }))).toEqual([])
    expect(verdictsIn(scenario.bar('BTC', 102))).toMatchObject([{ exit_price: 102 }])
  })
})
