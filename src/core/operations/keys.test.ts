import { describe, expect, it } from 'vitest'
import { given, stateAfter, testContext } from '../../../test/given.fixture.ts'
import type { NewEvent } from '../events/catalogue.ts'
import { nodeId } from '../shared/brand.ts'
import { acceptedKey, isAccepted } from './keys.ts'

const keyOf = (digit: string): string => digit.repeat(64)
const nodeOf = (digit: string): string => `svc-${digit.repeat(16)}`

const startOf = (digit: string, ephemeral = false) => ({
  version: '1',
  node_id: nodeOf(digit),
  public_key: keyOf(digit),
  ephemeral,
  integrity: { ok: true, reason: null, first_bad_seq: null },
})
const started = (digit: string, ephemeral = false): NewEvent => ({
  type: 'system.started.v1',
  source: 'system',
  payload: startOf(digit, ephemeral),
})
const key = (digit: string) => ({ node_id: nodeOf(digit), public_key: keyOf(digit), reason: 'test' })
const admitted = (digit: string): NewEvent => ({
  type: 'system.key_admitted.v1',
  source: 'cli',
  payload: key(digit),
})
const retired = (digit: string): NewEvent => ({
  type: 'system.key_retired.v1',
  source: 'cli',
  payload: key(digit),
})
const nodesAfter = (...events: readonly NewEvent[]) => stateAfter(events).operations.nodes

describe('which keys count', () => {
  it('any, as long as no saved identity has started', () => {
    const nodes = nodesAfter(started('a', true), started('b', true))
    expect([nodes.isClosed, isAccepted(nodes, nodeOf('a')), isAccepted(nodes, nodeOf('b'))]).toEqual([
      false,
      true,
      true,
    ])
  })

  it('only those of the first saved identity and of whom it admits, after that', () => {
    const nodes = nodesAfter(started('a'), started('b'), started('c', true), admitted('d'))
    expect(['a', 'b', 'c', 'd'].map((digit) => isAccepted(nodes, nodeOf(digit)))).toEqual([
      true,
      false,
      false,
      true,
    ])
  })

  it('not under a node id that belongs to another key', () => {
    const nodes = nodesAfter(started('a'), {
      type: 'system.key_admitted.v1',
      source: 'cli',
      payload: { node_id: nodeOf('b'), public_key: keyOf('c'), reason: 'test' },
    })
    expect(isAccepted(nodes, nodeOf('b'))).toBe(false)
  })

  it('not any more once they are retired, until they are admitted again', () => {
    expect(acceptedKey(nodesAfter(started('a'), admitted('b'), retired('b')), nodeOf('b'))).toBeUndefined()
    const again = nodesAfter(started('a'), admitted('b'), retired('b'), admitted('b'))
    expect(acceptedKey(again, nodeOf('b'))).toBe(keyOf('b'))
  })
})

describe('a start', () => {
  it('of an identity that was not admitted is refused', () => {
    given(started('a'))
      .when({ kind: 'start', started: startOf('b') })
      .thenRefused('identity.not_admitted')
  })

  it('of a key that was retired is refused', () => {
    given(started('a'), admitted('b'), retired('b'))
      .when({ kind: 'start', started: startOf('b') })
      .thenRefused('identity.not_admitted')
  })

  it('of an admitted one is recorded', () => {
    given(started('a'), admitted('b'))
      .when({ kind: 'start', started: startOf('b') })
      .then({ type: 'system.started.v1' }, { type: 'contributor.registered.v1' })
  })
})

describe('admitting', () => {
  it('a key is recorded once', () => {
    given(started('a'))
      .when({ kind: 'admit-key', key: key('b') })
      .then({ type: 'system.key_admitted.v1' })
    given(started('a'), admitted('b'))
      .when({ kind: 'admit-key', key: key('b') })
      .thenRefused('identity.already_admitted')
  })

  it('a key under another node id is refused', () => {
    given(started('a'))
      .when({ kind: 'admit-key', key: { ...key('b'), public_key: keyOf('c') } })
      .thenRefused('identity.invalid')
  })
})

describe('retiring', () => {
  it('ends a key', () => {
    given(started('a'), admitted('b'))
      .when({ kind: 'retire-key', nodeId: nodeOf('b'), reason: 'left' })
      .then({ type: 'system.key_retired.v1', payload: { public_key: keyOf('b') } })
  })

  it('the last key, or one that does not count, is refused', () => {
    given(started('a'))
      .when({ kind: 'retire-key', nodeId: nodeOf('a'), reason: 'x' })
      .thenRefused('identity.last_key')
    given(started('a'))
      .when({ kind: 'retire-key', nodeId: nodeOf('b'), reason: 'x' })
      .thenRefused('identity.not_admitted')
  })
})

it('rotating admits the new key and ends the own one in one batch', () => {
  const context = { ...testContext(), nodeId: nodeId(nodeOf('a')) }
  const state = given(started('a'))
    .when({ kind: 'rotate-key', successor: key('b') }, context)
    .then({ type: 'system.key_admitted.v1' }, { type: 'system.key_retired.v1' })
  expect(isAccepted(state.operations.nodes, nodeOf('a'))).toBe(false)
  expect(isAccepted(state.operations.nodes, nodeOf('b'))).toBe(true)
})
