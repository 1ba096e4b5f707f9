import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { signatures } from '../../../adapters/platform/signatures/signatures.ts'
import { parseVerifierKey, verifierKeyText } from '../../../core/log/proof.ts'
import { sha256 } from '../../../engine/integrity/sha256-bytes.ts'
import { verifyProof } from '../../../engine/proofs/verify-proof.ts'
import { startTestServer, type TestServer } from '../test-server.fixture.ts'

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
})
afterEach(() => server.close())

const keyOf = ({ engine, publicKey }: TestServer) =>
  parseVerifierKey(verifierKeyText(engine.nodeId, publicKey, sha256), sha256)

describe('GET /events/{id}/proof', () => {
  it('proves every event of the log, also the newest', async () => {
    for (let level = 1; level <= 3; level += 1)
      await server.call('POST', '/kill-switch', { json: { level, reason: 'x' } })
    const records = await server.log.read({ order: 'asc', limit: 100 })
    for (const record of records) {
      const { status, headers, text } = await server.call('GET', `/events/${record.id}/proof`)
      expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
      expect(await verifyProof(text, keyOf(server), signatures)).toMatchObject({
        status: 'included',
        seq: record.seq,
        hash: record.hash,
      })
    }
  })

  it('signs a checkpoint for an event that none covers, and uses it for the others', async () => {
    const [record] = await server.log.read({ order: 'asc', limit: 1 })
    const first = await server.call('GET', `/events/${record!.id}/proof`)
    expect((await server.checkpoints.read('all')).notes).toHaveLength(1)
    await server.call('POST', '/kill-switch', { json: { level: 1, reason: 'x' } })
    expect((await server.call('GET', `/events/${record!.id}/proof`)).text).toBe(first.text)
    expect((await server.checkpoints.read('all')).notes).toHaveLength(1)
  })

  it('answers 404 for an unknown event', async () => {
    for (const id of ['nope', '%00', 'a%7Cb'])
      expect(await server.call('GET', `/events/${id}/proof`)).toMatchObject({
        status: 404,
        body: { code: 'event.not_found' },
      })
  })

  it('answers 503 while no checkpoint can be signed', async () => {
    await server.close()
    const detail = 'no checkpoint is signed: the log was turned back'
    server = await startTestServer({
      dependencies: { prove: async () => ({ status: 'unavailable', detail }) },
    })
    const [record] = await server.log.read({ order: 'asc', limit: 1 })
    const { status, headers, body } = await server.call('GET', `/events/${record!.id}/proof`)
    expect([status, headers.get('retry-after'), body]).toMatchObject([
      503,
      '5',
      { code: 'proof.unavailable', detail, event_id: record!.id },
    ])
  })

  it('needs a token', async () => {
    expect((await server.call('GET', '/events/x/proof', { token: null })).status).toBe(401)
  })
})
