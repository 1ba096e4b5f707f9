import { Map as PersistentMap } from 'immutable'
import { describe, expect, it } from 'vitest'
import { HOUR_MS, house, say, bullish, verdictsIn, recordOf, barAfter } from './calls.fixture.ts'
import { BEGIN, payloadOf } from '../trading/trading.fixture.ts'
import type { KnownEvent } from '../events/catalogue.ts'
import { CALL_SIGNALS_MAX, evolveCalls, SIGNALS_MAX } from './calls.ts'
import { isAnyOverdue } from './settle-calls.ts'
import type { JsonObject } from '../shared/json.ts'

describe('a call', () => {
  it('is opened by a signal at the price of that moment', () => {
    const desk = house()
    desk.bar('BTC', 100)
    const attribution = say(desk, 'ann', bullish)
    expect(attribution).toMatchObject({
      direction: 'bullish',
      probability: 0.9,
      horizon: '24h',
      due_at: new Date(Date.parse(desk.now) + 24 * HOUR_MS).toISOString(),
      ref_price: 100,
      ref_sigma: null,
    })
    expect(attribution['call_id']).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('is made by the evidence of a measurement', () => {
    const desk = house()
    desk.bar('BTC', 100)
    const emit = (payload: JsonObject) =>
      payloadOf(
        desk.do({
          kind: 'emit-signal',
          emission: {
            producerId: 'technical-analysis',
            type: 'signal.ta.v1',
            payload,
            ts: null,
            dedupeKey: null,
          },
        }),
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
    const desk = house()
    for (const payload of [{ symbol: '' }, { symbol: 'global' }, { direction: null }, { direction: 'up' }]) {
      expect(say(desk, 'ann', { ...bullish, ...payload })).toMatchObject({ call_id: null, due_at: null })
    }
    expect(desk.state.reputation.calls.open.size).toBe(0)
  })

  it('takes the horizon it asks for, if it is one', () => {
    const desk = house()
    expect(say(desk, 'ann', { ...bullish, horizon: '1h' })).toMatchObject({ horizon: '1h' })
    expect(say(desk, 'bob', { ...bullish, horizon: '2h' })).toMatchObject({ horizon: '24h' })
  })

  it('is joined by what says the same, and by nothing else', () => {
    const desk = house()
    desk.bar('BTC', 100)
    const first = say(desk, 'ann', bullish)
    desk.bar('BTC', 110)
    const same = say(desk, 'ann', { direction: 'bullish', conviction: 2, symbol: 'btc/usdt' })
    expect(same).toMatchObject({ call_id: first['call_id'], ref_price: 100, due_at: first['due_at'] })
    const others = [
      say(desk, 'ann', { direction: 'bearish' }),
      say(desk, 'ann', { ...bullish, symbol: 'ETH' }),
      say(desk, 'bob', bullish),
    ]
    expect(new Set([first, ...others].map(({ call_id }) => call_id)).size).toBe(4)
    expect(desk.state.reputation.calls.open.size).toBe(4)
  })

  it('remembers its first and its newest signals', () => {
    const desk = house()
    const ids = Array.from({ length: CALL_SIGNALS_MAX + 5 }, () => say(desk, 'ann', bullish)['signal_id'])
    const [call] = [...desk.state.reputation.calls.open.values()]
    expect(call?.signalIds).toEqual([ids[0], ...ids.slice(1 - CALL_SIGNALS_MAX)])
    expect(desk.state.reputation.calls.ofSignal.size).toBe(CALL_SIGNALS_MAX)
  })

  it('remembers its first and its newest signal alone while there are too many of all calls', () => {
    const desk = house()
    const said = say(desk, 'ann', bullish)
    const others = Array.from({ length: SIGNALS_MAX }, (_, index): [string, string] => [
      `s${index}`,
      'others',
    ])
    const full = {
      ...desk.state.reputation.calls,
      ofSignal: desk.state.reputation.calls.ofSignal.merge(PersistentMap(others)),
    }
    const repeated = (id: string) =>
      ({ type: 'attribution.recorded.v1', payload: { ...said, signal_id: id } }) as unknown as KnownEvent
    const after = ['a', 'b', 'c'].map(repeated).reduce(evolveCalls, full)
    expect(after.open.first()?.signalIds).toEqual([said['signal_id'], 'c'])
    expect([after.ofSignal.size, after.ofSignal.has('a'), after.ofSignal.has('c')]).toEqual([
      SIGNALS_MAX + 2,
      false,
      true,
    ])
  })

  it('is opened once by several rows of one run', () => {
    const desk = house()
    const row = (rsi: number, key: string) => ({
      type: 'signal.ta.v1',
      payload: { symbol: 'BTC', rsi_14: rsi },
      ts: desk.now,
      dedupeKey: key,
    })
    desk.do({
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
    expect(desk.state.reputation.calls.open.size).toBe(2)
  })
})

describe('a call that nobody trades on', () => {
  it('is decided by the first close from its time on', () => {
    const desk = house()
    desk.bar('BTC', 100)
    const { call_id, signal_id } = say(desk, 'ann', bullish)
    expect(verdictsIn(barAfter(desk, 24 * HOUR_MS - 60_000, 150))).toEqual([])
    const [verdict] = verdictsIn(desk.bar('BTC', 101))
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
      opened_at: new Date(Date.parse(BEGIN) + 60_000).toISOString(),
      due_at: desk.now,
      probability: 0.9,
    })
    expect(verdictsIn(desk.bar('BTC', 102))).toEqual([])
    expect(recordOf(desk, 'ann')).toMatchObject({ resolved: 1, profitable: 1, weightSum: 2 })
    expect(recordOf(desk, 'ann')?.brierSum).toBeCloseTo(0.01, 12)
    expect(desk.state.reputation.calls).toMatchObject({
      open: expect.objectContaining({ size: 0 }),
      current: expect.objectContaining({ size: 0 }),
      ofSignal: expect.objectContaining({ size: 0 }),
    })
  })

  it('hits by its direction, and base rates count the case afterwards', () => {
    const desk = house()
    desk.bar('BTC', 100)
    say(desk, 'ann', { direction: 'bearish', conviction: 4 })
    say(desk, 'ann', { direction: 'neutral' })
    say(desk, 'bob', bullish)
    const verdicts = verdictsIn(barAfter(desk, 24 * HOUR_MS, 99))
    expect(verdicts.map(({ direction, hit, base_rate }) => [direction, hit, base_rate])).toEqual([
      ['bearish', true, 0.4],
      ['neutral', false, 0.2],
      ['bullish', false, 0.4],
    ])
    expect(desk.state.reputation.calls.rates.moves['24h']).toEqual({ up: 0, flat: 0, down: 3 })
    expect(recordOf(desk, 'ann')).toMatchObject({ resolved: 2, profitable: 1 })
  })

  it('is void when nobody told a price', () => {
    const desk = house()
    say(desk, 'ann', bullish)
    const [verdict] = verdictsIn(barAfter(desk, 24 * HOUR_MS, 100))
    expect(verdict).toMatchObject({ hit: null, void_reason: 'no_price', base_rate: null, return_pct: null })
    expect(recordOf(desk, 'ann')).toMatchObject({ resolved: 0 })
    expect(desk.state.reputation.outcomes.byAuthor.size).toBe(0)
  })

  it('is void when no bar comes in time, be it by a late bar or by the clock', () => {
    const late = house()
    late.bar('BTC', 100)
    say(late, 'ann', bullish)
    const [verdict] = verdictsIn(barAfter(late, 24 * HOUR_MS + 1_860_000, 110))
    expect(verdict).toMatchObject({ hit: null, void_reason: 'no_bar', exit_price: null })
    const silent = house()
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
    const desk = house()
    desk.bar('BTC', 100)
    say(desk, 'ann', bullish)
    expect(verdictsIn(barAfter(desk, 24 * HOUR_MS + 1_800_000, 110))).toMatchObject([{ hit: true }])
  })

  it('is over at its time: what is said then opens the next', () => {
    const desk = house()
    desk.bar('BTC', 100)
    const first = say(desk, 'ann', bullish)
    desk.wait(24 * HOUR_MS)
    const second = say(desk, 'ann', bullish)
    expect(second['call_id']).not.toBe(first['call_id'])
    expect(desk.state.reputation.calls.open.size).toBe(2)
    expect(verdictsIn(desk.bar('BTC', 101))).toMatchObject([{ call_id: first['call_id'] }])
    expect(say(desk, 'ann', bullish)).toMatchObject({ call_id: second['call_id'] })
  })

  it('is settled after its contributor was removed', () => {
    const desk = house()
    desk.bar('BTC', 100)
    say(desk, 'ann', bullish)
    desk.do({ kind: 'remove-contributor', id: 'id of ann', surface: 'api' })
    expect(verdictsIn(barAfter(desk, 24 * HOUR_MS, 101))).toMatchObject([{ hit: true }])
    expect(recordOf(desk, 'ann')).toMatchObject({ resolved: 1, profitable: 1 })
  })

  it('is not decided by bars of the past or of other symbols', () => {
    const desk = house()
    desk.bar('BTC', 100)
    say(desk, 'ann', bullish)
    desk.wait(24 * HOUR_MS)
    expect(verdictsIn(desk.bar('ETH', 100))).toEqual([])
    expect(verdictsIn(desk.bar('BTC', 101, { backfill: true }))).toEqual([])
    expect(verdictsIn(desk.bar('BTC', 102))).toMatchObject([{ exit_price: 102 }])
  })
})
