import { describe, expect, it } from 'vitest'
import { stateAfter } from '../../test/given.ts'
import { decodeState, encodeState } from './state-codec.ts'
import { evolve, INITIAL_STATE } from './state.ts'

const started = (node_id: string) => ({
  type: 'system.started.v1' as const,
  source: 'system',
  payload: {
    version: '1',
    node_id,
    public_key: `key of ${node_id}`,
    ephemeral: false,
    integrity: { ok: true, reason: null, first_bad_seq: null },
  },
})

describe('the state as text', () => {
  it('comes back equal, maps included', () => {
    const state = stateAfter([started('b'), started('a')])
    const back = decodeState(encodeState(state))
    expect(encodeState(back)).toBe(encodeState(state))
    expect(back.nodes.publicKeys.get('a')).toBe('key of a')
    expect(back.nodes.starts).toBe(2)
  })

  it('does not depend on the order in which a map was filled', () => {
    const one = stateAfter([started('a'), started('b')])
    const other = stateAfter([started('b'), started('a')])
    expect(encodeState({ ...other, seq: one.seq })).toBe(encodeState(one))
  })

  it('is untouched by events of unknown types, but for its position', () => {
    const stranger = {
      seq: 1,
      id: 'x',
      type: 'later.thing.v9',
      ts: 't',
      source: null,
      traceId: null,
      dedupeKey: null,
      payload: {},
      recordedAt: 't',
    }
    expect(evolve(INITIAL_STATE, stranger)).toEqual({ ...INITIAL_STATE, seq: 1, recordedAt: 't' })
  })
})
