import { describe, expect, it } from 'vitest'
import { node, other, logWith, useIntegrityFixture } from '../../../test/tamper/integrity.fixture.ts'
import { appendSaid, notes, recordsOf, started } from '../../../test/tamper/signed-log.fixture.ts'
import { findKeys, introducedAt, keyIn } from './signer-keys.ts'

useIntegrityFixture()

const KEY = { nodeId: node.nodeId, publicKey: node.publicKey }
const introduction = (type: string, payload: object) => ({ type, payload: JSON.stringify(payload) })
const payload = { node_id: node.nodeId, public_key: node.publicKey }

describe('the key in an event', () => {
  it('is introduced by the start of a process alone', () => {
    expect(keyIn(introduction('system.started.v1', payload))).toEqual(KEY)
    for (const type of ['system.started.v2', 'system.key_retired.v1', 'signal.ta.v1'])
      expect(keyIn(introduction(type, payload)), type).toBeNull()
  })

  it('is none without its members, or under the name of another key', () => {
    for (const wrong of [
      { node_id: node.nodeId },
      { public_key: node.publicKey },
      { node_id: 1, public_key: node.publicKey },
      { node_id: node.nodeId, public_key: 1 },
      { node_id: other.nodeId, public_key: node.publicKey },
    ])
      expect(keyIn(introduction('system.started.v1', wrong)), JSON.stringify(wrong)).toBeNull()
    expect(keyIn({ type: 'system.started.v1', payload: 'no JSON' })).toBeNull()
  })
})

describe('the keys of a log', () => {
  const log = async () => {
    const opened = await logWith(await recordsOf([started(node), ...notes(2)], node))
    await appendSaid(opened, [started(other), started(node), ...notes(2)], node)
    return opened
  }

  it('are found by their nodes, as far as the log knows them', async () => {
    const found = await findKeys(await log(), [other.nodeId, node.nodeId, 'nobody'])
    expect(Object.fromEntries(found)).toEqual({
      [node.nodeId]: node.publicKey,
      [other.nodeId]: other.publicKey,
    })
    expect((await findKeys(await log(), [other.nodeId])).size).toBe(1)
    expect((await findKeys(await log(), [])).size).toBe(0)
  })

  it('were introduced last at the newest start', async () => {
    expect(await introducedAt(await log(), KEY)).toBe(5)
    expect(await introducedAt(await log(), { nodeId: other.nodeId, publicKey: other.publicKey })).toBe(4)
    expect(await introducedAt(await log(), { ...KEY, publicKey: other.publicKey })).toBeNull()
    expect(await introducedAt(await log(), { ...KEY, nodeId: 'nobody' })).toBeNull()
  })
})
