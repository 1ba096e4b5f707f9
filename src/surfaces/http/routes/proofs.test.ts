import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { signatures } from '../../../adapters/platform/signatures/signatures.ts'
import { parseVerifierKey, verifierKeyText } from '../../../core/log/proof.ts'
import { sha256 } from '../../../engine/sha256.ts'
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

describe('GET /proofs/consistency', () => {
  /** Leaves a checkpoint of each size that the log has on the way. */
  const grow = async (times: number): Promise<readonly number[]> => {
    const sizes: number[] = []
    for (let time = 0; time < times; time += 1) {
      await server.call('POST', '/kill-switch', { json: { level: (time % 3) + 1, reason: 'x' } })
      const [newest] = await server.log.read({ order: 'desc', limit: 1 })
      await server.call('GET', `/events/${newest!.id}/proof`)
      sizes.push((await server.checkpoints.read('newest')).notes.at(-1)!.frontier.size)
    }
    return sizes
  }

  it('proves that a later checkpoint only adds events, for any two that are kept', async () => {
    const sizes = await grow(4)
    for (const from of sizes)
      for (const to of sizes.filter((size) => size >= from)) {
        const { status, headers, text } = await server.call(
          'GET',
          `/proofs/consistency?from=${from}&to=${to}`,
        )
        expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
        expect(await verifyProof(text, keyOf(server), signatures)).toMatchObject({
          status: 'consistent',
          older: { size: from },
          newer: { size: to },
        })
      }
    const [first] = sizes
    const newest = await server.call('GET', `/proofs/consistency?from=${first}`)
    expect((await server.call('GET', '/proofs/consistency')).text).toBe(newest.text)
    expect(newest.text).toBe(
      (await server.call('GET', `/proofs/consistency?from=${first}&to=${sizes.at(-1)}`)).text,
    )
  })

  it('names the kept sizes where one is not kept, and refuses what is no size', async () => {
    expect(await server.call('GET', '/proofs/consistency?from=1')).toMatchObject({
      status: 404,
      body: { code: 'checkpoint.not_found', size: 1, kept: [] },
    })
    const sizes = await grow(2)
    expect(await server.call('GET', '/proofs/consistency?from=1')).toMatchObject({
      status: 404,
      body: { code: 'checkpoint.not_found', size: 1, kept: sizes },
    })
    for (const query of ['?from=', '?from=x', '?from=0', `?from=${sizes[0]}&to=-1`])
      expect((await server.call('GET', `/proofs/consistency${query}`)).status, query).toBe(422)
  })
})
