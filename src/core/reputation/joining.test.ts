import { expect, it } from 'vitest'
import { asKnown, type KnownEvent } from '../events/catalogue.ts'
import type { Stamped } from '../log/event.ts'
import { callId, signalId } from '../shared/brand.ts'
import { timestampAt } from '../shared/time.ts'
import { afterSeen, evolveTrails, INITIAL_TRAILS } from '../signals/trails.ts'
import { afterJoining, CALL_SIGNALS_MAX, evolveCalls, INITIAL_CALLS, type Calls } from './calls.ts'
import { afterJoined, evolveOverlaps, NO_OVERLAPS } from './overlaps.ts'

const HOUR_MS = 3_600_000
const NOTHING_KNOWN = () => 0

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

it('of many signals that join calls leaves what each of them would, also of those that are dropped', () => {
  const joining = Array.from({ length: 3 * CALL_SIGNALS_MAX }, (_, index) => ({
    callId: callId(index % 3 === 0 ? 'down' : 'up'),
    signalId: signalId(`s${index}`),
  }))
  const one = joining.reduce(
    (calls, { callId: call, signalId: signal }) => evolveCalls(calls, recorded(call, signal)),
    opened(),
  )
  const all = afterJoining(opened(), joining)
  expect(all).toEqual(one)
  expect(all.open.get(callId('up'))?.signalIds).toHaveLength(CALL_SIGNALS_MAX)
  expect([...all.ofSignal]).toEqual([...one.ofSignal])
})

it('refuses to join a call that is not open', () => {
  const joining = [{ callId: callId('none'), signalId: signalId('s') }]
  expect(() => afterJoining(opened(), joining)).toThrow('is joined but not open')
  expect(afterJoining(INITIAL_CALLS, [])).toBe(INITIAL_CALLS)
})

it('knows who repeats whom as after the event of the signal', () => {
  const steps = [
    ['up 1', 'one', 0],
    ['up 2', 'two', 1],
    ['down 1', 'one', 2],
    ['up 1', 'one', 3],
    ['up 2', 'two', 4],
    ['down 1', 'one', 5],
  ] as const
  let [byEvent, byCall, calls] = [NO_OVERLAPS, NO_OVERLAPS, INITIAL_CALLS]
  for (const [id, producer, hour] of steps) {
    const firstHour = steps.find(([first]) => first === id)?.[2] ?? hour
    const said = recorded(id, `${id} ${hour}`, producer, hour * HOUR_MS, firstHour * HOUR_MS)
    byEvent = evolveOverlaps(byEvent, said, NOTHING_KNOWN)
    calls = evolveCalls(calls, said)
    const call = calls.open.get(callId(id))!
    byCall = afterJoined(byCall, call, hour * HOUR_MS, NOTHING_KNOWN)
  }
  expect(byCall).toEqual(byEvent)
  expect(byCall.repetitions.size).toBe(2)
})

it('counts signals of a source as after the event of each', () => {
  const day = 24 * HOUR_MS
  const seen = [
    { type: 'signal.ta.v1', from: 0, count: 5 },
    { type: 'signal.etf.v1', from: 6, count: 1 },
    { type: 'signal.ta.v1', from: 24, count: 3 },
    { type: 'signal.ta.v1', from: 24 * 95, count: 2 },
  ]
  const each = seen.flatMap(({ type, from, count }) =>
    Array.from({ length: count }, (_, index) => event(type, from * HOUR_MS + index, { symbol: 'BTC' })),
  )
  const all = seen.map(({ type, from, count }) => ({
    source: 'p',
    type,
    first: timestampAt(from * HOUR_MS),
    last: timestampAt(from * HOUR_MS + count - 1),
    count,
  }))
  expect(each.at(-1)?.ts).toBe(timestampAt(95 * day + 1))
  expect(afterSeen(INITIAL_TRAILS, all)).toEqual(each.reduce(evolveTrails, INITIAL_TRAILS))
  expect(afterSeen(INITIAL_TRAILS, [])).toBe(INITIAL_TRAILS)
})
