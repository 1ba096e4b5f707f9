import { expect, it } from 'vitest'
import { asKnown, type KnownEvent } from '../events/catalogue.ts'
import type { Stamped } from '../log/event.ts'
import { callId, signalId } from '../shared/brand.ts'
import { timestampAt } from '../shared/time.ts'
import { CALL_SIGNALS_MAX, evolveCalls, INITIAL_CALLS, type Calls } from './calls.ts'

const HOUR_MS = 3_600_000

const event = (type: string, atMs: number, payload: object): KnownEvent => {
  const at = timestampAt(atMs)
  const stamped = { seq: 1, id: '1', type, ts: at, source: 'p', traceId: null, dedupeKey: null }
  return asKnown({ ...stamped, payload, recordedAt: at } as unknown as Stamped) as KnownEvent
}

const recorded = (call: string, signal: string, producer = 'p', atMs = 0, openedMs = atMs): KnownEvent =>
  event('attribution.recorded.v1', atMs, {
    call_id: call,
    contributor_id: null,
    direction: call.startsWith('up') ? 'bullish' : 'bearish',
    due_at: timestampAt(openedMs + 24 * HOUR_MS),
    horizon: '24h',
    node_id: null,
    probability: 0.7,
    producer_id: producer,
    received_at: timestampAt(atMs),
    ref_price: 100,
    ref_sigma: null,
    score: null,
    signal_id: signal,
    symbol: 'BTC',
  })

const opened = (): Calls =>
  ['up', 'down'].reduce((calls, call) => evolveCalls(calls, recorded(call, `first ${call}`)), INITIAL_CALLS)

it('keeps the first and the newest signals of a call that many signals join', () => {
  const joining = Array.from({ length: 3 * CALL_SIGNALS_MAX }, (_, index) => ({
    callId: callId(index % 3 === 0 ? 'down' : 'up'),
    signalId: signalId(`s${index}`),
  }))
  const one = joining.reduce(
    (calls, { callId: call, signalId: signal }) => evolveCalls(calls, recorded(call, signal)),
    opened(),
  )
  const kept = one.open.get(callId('up'))?.signalIds ?? []
  expect(kept).toHaveLength(CALL_SIGNALS_MAX)
  expect([kept[0], kept.at(-1)]).toEqual(['first up', `s${3 * CALL_SIGNALS_MAX - 1}`])
  expect(one.ofSignal.get(signalId('s1'))).toBeUndefined()
})
