import { nodeId } from '../shared/brand.ts'
import { describe, expect, it } from 'vitest'
import { given, NOW } from '../../../test/given.fixture.ts'
import type { NewEvent } from '../events/catalogue.ts'
import type { JsonObject } from '../shared/json.ts'
import { type Emission, mayEmit, type Submission } from './signals.ts'

const contributor: NewEvent = {
  type: 'contributor.registered.v1',
  source: 'api',
  payload: { contributor_id: 'c1', node_id: 'n1', name: 'Ann', role: 'curator', metadata: {} },
}
const producer: NewEvent = {
  type: 'producer.registered.v1',
  source: 'api',
  payload: { name: 'p1', domain: 'technical', endpoint: 'https://example.com', schedule: '* * * * *' },
}

const submit = (said: Partial<Submission> = {}) =>
  ({
    kind: 'submit-signal',
    submission: {
      eventType: 'signal.curator.v1',
      nodeId: nodeId('n1'),
      ts: null,
      source: null,
      payload: {},
      dedupeKey: null,
      ...said,
    },
  }) as const

const emit = (said: Partial<Emission> = {}) =>
  ({
    kind: 'emit-signal',
    emission: { producerId: 'p1', type: 'signal.ta.v1', payload: {}, ts: null, dedupeKey: null, ...said },
  }) as const

describe('a submission', () => {
  it('stores the signal and its attribution in one batch', () => {
    const payload = { symbol: 'btc/usdt', direction: 'bullish', conviction: 7.5, extra: { kept: [1] } }
    given(contributor)
      .when(submit({ payload, source: '  operator:telegram ', dedupeKey: 'k' }))
      .then(
        { type: 'signal.curator.v1', payload },
        {
          type: 'attribution.recorded.v1',
          payload: {
            signal_id: 'id-1',
            contributor_id: 'c1',
            node_id: 'n1',
            producer_id: 'n1',
            received_at: NOW,
            symbol: 'BTC',
            direction: 'bullish',
            score: 7.5,
          },
        },
      )
  })

  it('is refused for another type first, then for an unknown contributor', () => {
    given()
      .when(submit({ eventType: 'signal.ta.v1' }))
      .thenRefused('signal.invalid_type', { event_type: 'signal.ta.v1' })
    given().when(submit()).thenRefused('contributor.not_found', { node_id: 'n1' })
    given(contributor, {
      type: 'contributor.removed.v1',
      source: 'api',
      payload: { contributor_id: 'c1', node_id: 'n1' },
    })
      .when(submit())
      .thenRefused('contributor.not_found', { node_id: 'n1' })
  })
})

describe('an emission', () => {
  it('of a producer is attributed without a contributor, if it carries weight', () => {
    given(producer)
      .when(emit({ payload: { symbol: 'BTC' } }))
      .then(
        { type: 'signal.ta.v1' },
        {
          type: 'attribution.recorded.v1',
          payload: { contributor_id: null, node_id: null, producer_id: 'p1', score: null, direction: null },
        },
      )
    given(producer)
      .when(emit({ type: 'signal.price_alert.v1' }))
      .then({ type: 'signal.price_alert.v1' })
    given({ ...producer, payload: { ...producer.payload, domain: 'own' } })
      .when(emit({ type: 'signal.own.thing.v3' }))
      .then({ type: 'signal.own.thing.v3' })
  })

  it('under the name of a built-in producer is refused, also after somebody registered the name', () => {
    const taken = { ...producer, payload: { ...producer.payload, name: 'technical-analysis' } } as NewEvent
    for (const before of [[], [taken]]) {
      given(...before)
        .when(emit({ producerId: 'technical-analysis' }))
        .thenRefused('producer.reserved', { name: 'technical-analysis' })
    }
  })

  it.each(['signal.onchain.v1', 'signal.whale.v1', 'signal.onchain.mine.v1', 'signal.weather.v1'])(
    'of a producer in the domain technical is not %s',
    (type) => {
      given(producer).when(emit({ type })).thenRefused('signal.type_not_allowed', { signal_type: type })
    },
  )

  it.each([
    'signal.ta.v1',
    'signal.orderbook.v1',
    'signal.ta.mine.v2',
    'signal.technical.v1',
    'signal.price_ws.v1',
  ])('of a producer in the domain technical may be %s', (type) => {
    expect(mayEmit('technical', type)).toBe(true)
  })

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'])(
    'of %s, which every object inherits, is that of an unknown name',
    (producerId) => {
      given().when(emit({ producerId })).thenRefused('producer.not_found', { name: producerId })
    },
  )

  it('of a contributor has the curator type, and producers may not emit it', () => {
    given(contributor)
      .when(emit({ producerId: 'n1', type: 'signal.curator.v1' }))
      .then(
        { type: 'signal.curator.v1' },
        { type: 'attribution.recorded.v1', payload: { contributor_id: 'c1' } },
      )
    given(contributor)
      .when(emit({ producerId: 'n1' }))
      .thenRefused('signal.type_not_allowed')
    given(producer)
      .when(emit({ type: 'signal.curator.v1' }))
      .thenRefused('signal.type_not_allowed')
  })

  it('of an unknown name is refused', () => {
    given().when(emit()).thenRefused('producer.not_found', { name: 'p1' })
  })
})

describe('the strength a signal states for itself', () => {
  it.each<[JsonObject, number | null]>([
    [{ magnitude: 4, consensus_score: 3, score: 2, conviction: 1 }, 1],
    [{ magnitude: 4, consensus_score: 3, score: 2, conviction: 'much' }, 2],
    [{ magnitude: 4, consensus_score: 3 }, 3],
    [{ magnitude: 4 }, 4],
    [{ conviction: 0 }, 0],
    [{ rsi_14: 30 }, null],
  ])('of %j is %s', (payload, score) => {
    given(contributor)
      .when(submit({ payload }))
      .then({ type: 'signal.curator.v1' }, { type: 'attribution.recorded.v1', payload: { score } })
  })
})
