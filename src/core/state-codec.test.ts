import { nodeId, contributorId } from './shared/brand.ts'
import { describe, expect, it } from 'vitest'
import { NOW, stateAfter } from '../../test/given.fixture.ts'
import { canonicalJson } from './log/canonical-json.ts'
import { decodeState, encodeState } from './state-codec.ts'
import { evolve, INITIAL_STATE } from './state.ts'
import type { JsonObject } from './shared/json.ts'

const started = (node_id: string) => ({
  type: 'system.started.v1' as const,
  source: 'system',
  payload: {
    version: '1',
    node_id: nodeIdOf(node_id),
    public_key: keyOf(node_id),
    ephemeral: true,
    integrity: { ok: true, reason: null, first_bad_seq: null },
  },
})

const keyOf = (name: string): string => name.repeat(64)
const nodeIdOf = (name: string): string => `svc-${keyOf(name).slice(0, 16)}`

describe('the state as text', () => {
  it('comes back equal, maps included', () => {
    const state = stateAfter([started('b'), started('a')])
    const back = decodeState(encodeState(state))
    expect(encodeState(back)).toBe(encodeState(state))
    expect(back.operations.nodes.publicKeys.get(nodeIdOf('a'))).toBe(keyOf('a'))
    expect(back.operations.nodes.starts).toBe(2)
  })

  it('does not depend on the order in which a map was filled', () => {
    const one = stateAfter([started('a'), started('b')])
    const other = stateAfter([started('b'), started('a')])
    expect(encodeState({ ...other, seq: one.seq })).toBe(encodeState(one))
  })

  it('is canonical as a whole, though written in pieces', () => {
    const text = encodeState(stateAfter([started('b'), started('a')]))
    expect(canonicalJson(JSON.parse(text) as JsonObject)).toBe(text)
  })

  it('is untouched by events of unknown types, but for its position', () => {
    const outsider = {
      seq: 1,
      id: 'x',
      type: 'later.thing.v9',
      ts: NOW,
      source: null,
      traceId: null,
      dedupeKey: null,
      payload: {},
      recordedAt: NOW,
    }
    expect(evolve(INITIAL_STATE, outsider)).toEqual({
      ...INITIAL_STATE,
      seq: 1,
      recordedAt: NOW,
      decidedAt: NOW,
    })
  })

  it('keeps what strangers say of themselves, whatever they call it', () => {
    const text = '{"$map":{"a":1},"$bigint":"x","$$map":2,"$":3,"__proto__":{"$map":4},"constructor":5}'
    const registered = (node_id: string) => ({
      type: 'contributor.registered.v1' as const,
      source: 'api',
      payload: {
        contributor_id: `id of ${node_id}`,
        node_id,
        name: '$map',
        role: '$bigint',
        metadata: JSON.parse(text) as JsonObject,
      },
    })
    const nodes = ['__proto__', '$map', '$bigint', 'constructor', 'toString']
    const state = stateAfter(nodes.map(registered))
    const back = decodeState(encodeState(state))
    expect(encodeState(back)).toBe(encodeState(state))
    expect(canonicalJson(JSON.parse(encodeState(state)) as JsonObject)).toBe(encodeState(state))
    for (const node of nodes) {
      const known = back.signals.contributors.byId.get(
        back.signals.contributors.idOfNode.get(nodeId(node)) ?? contributorId(''),
      )
      expect(known, node).toMatchObject({ nodeId: node, name: '$map' })
      expect(canonicalJson(known?.metadata ?? {})).toBe(canonicalJson(JSON.parse(text) as JsonObject))
    }
  })
})
