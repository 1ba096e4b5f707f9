import { verify, createPublicKey } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signingKey, submissionText, type SigningKey } from '../../clients/typescript/signal-engine.ts'
import { errorOf, eventsOf, register, registerProducer, tool, type EventItem } from './acts.ts'
import { cleanUp, newHome, startService, svc, type RunningService } from './service.ts'
import { onDefaultStore } from './stores.ts'

const OPERATOR = 'black-box-operator-token-of-more-than-thirty-two-characters'
const KEY = signingKey(Buffer.alloc(32, 7))
const OTHER = signingKey(Buffer.alloc(32, 8))

onDefaultStore('a contributor with a public key', (store) => {
  let service: RunningService
  let id: string
  beforeAll(async () => {
    service = await startService(await newHome(), { ...(await store()), SVC_API__OPERATOR_TOKEN: OPERATOR })
    const body = { node_id: 'ann', name: 'Ann', role: 'curator', public_key: KEY.publicKey }
    const registered = await service.call('POST', '/contributors/register', { body })
    ;({ id } = registered.body)
  })

  it('is shown with its key', async () => {
    expect((await service.call('GET', `/contributors/${id}`)).body).toMatchObject({
      id,
      node_id: 'ann',
      public_key: KEY.publicKey,
    })
  })

  const operator = { authorization: `Bearer ${OPERATOR}` }
  const total = async (): Promise<number> => (await eventsOf(service, 'signal.curator')).length
  const fields = (changes: object = {}) => ({
    event_type: 'signal.curator.v1',
    node_id: 'ann',
    payload: { symbol: 'BTC', direction: 'bullish', conviction: 7.5 },
    source: 'ann',
    ts: new Date().toISOString(),
    dedupe_key: 'k1',
    ...changes,
  })
  const signed = (body: ReturnType<typeof fields>, key: SigningKey = KEY) => ({
    ...body,
    signature: key.sign(submissionText({ ...body, contributor_id: id })),
  })
  const submit = (body: object, headers = {}) => service.call('POST', '/signals/submit', { body, headers })

  it.each(['zz', KEY.publicKey.slice(1), `${KEY.publicKey}00`, 7])(
    'does not register the key %s',
    async (key) => {
      const body = { node_id: 'bad', name: 'Bad', role: 'curator', public_key: key }
      expect((await service.call('POST', '/contributors/register', { body })).body).toMatchObject({
        status: 422,
        errors: expect.arrayContaining([expect.objectContaining({ loc: ['body', 'public_key'] })]),
      })
    },
  )

  it('is not spoken for without a signature, whatever the token', async () => {
    for (const headers of [{}, operator]) {
      expect((await submit(fields(), headers)).body).toMatchObject({
        status: 403,
        code: 'contributor.signature_missing',
        node_id: 'ann',
      })
    }
    const { payload, ts, dedupe_key } = fields()
    const emission = { producer_id: 'ann', signal_type: 'signal.curator.v1', payload, ts, dedupe_key }
    expect(errorOf(await tool(service, 'emit_producer_signal', emission))).toBe(
      'contributor_signature_missing',
    )
    expect(await total()).toBe(0)
  })

  it('is not spoken for with another key, or with a signature for other content', async () => {
    const body = fields()
    const forged = [
      signed(body, OTHER),
      { ...signed(body), payload: { ...body.payload, conviction: 9 } },
      { ...signed(body), dedupe_key: 'k2' },
      { ...signed(body), source: 'telegram' },
      { ...body, signature: '00'.repeat(64) },
    ]
    for (const each of forged) {
      expect((await submit(each)).body).toMatchObject({ status: 403, code: 'contributor.signature_invalid' })
    }
    expect((await submit({ ...body, signature: 'abc' })).body).toMatchObject({
      status: 422,
      errors: expect.arrayContaining([expect.objectContaining({ loc: ['body', 'signature'] })]),
    })
    expect(await total()).toBe(0)
  })

  it('needs a time that is not old, and a key', async () => {
    const { dedupe_key: _key, ...keyless } = signed(fields())
    const { ts: _ts, ...timeless } = signed(fields())
    for (const each of [keyless, timeless]) {
      expect((await submit(each)).body).toMatchObject({ status: 403, code: 'contributor.signature_invalid' })
    }
    const old = fields({ ts: new Date(Date.now() - 3_600_000).toISOString() })
    expect((await submit(signed(old))).body).toMatchObject({
      status: 403,
      code: 'contributor.signature_expired',
    })
    expect(await total()).toBe(0)
  })

  it('submits, and the same text again is the same signal, over REST and MCP', async () => {
    const body = signed(fields())
    const first = await submit(body)
    expect(first.status).toBe(200)
    const again = await submit(body)
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true'])
    expect(again.body).toEqual(first.body)
    const { payload, ts, dedupe_key, signature } = body
    const emission = {
      producer_id: 'ann',
      signal_type: 'signal.curator.v1',
      payload,
      ts,
      dedupe_key,
      signature,
    }
    const emitted = await tool(service, 'emit_producer_signal', emission)
    expect(emitted.body).toMatchObject({
      result: { isError: false, structuredContent: { event_id: expect.any(String) } },
    })
    expect(await total()).toBe(1)
  })

  it('can be checked by anybody from the log alone', async () => {
    const [signal] = (await eventsOf(service, 'signal.curator')) as (EventItem & { dedupe_key: string })[]
    const [attribution] = await eventsOf(service, 'attribution.recorded')
    const registered = (await eventsOf(service, 'contributor.registered')).find(
      ({ payload }) => payload['contributor_id'] === attribution?.payload['contributor_id'],
    )
    const text = submissionText({
      contributor_id: String(registered?.payload['contributor_id']),
      dedupe_key: String(signal?.dedupe_key).split(':').slice(2).join(':'),
      event_type: String(signal?.type),
      node_id: String(registered?.payload['node_id']),
      payload: signal?.payload as never,
      source: String(signal?.source),
      ts: String(signal?.ts),
    })
    const spki = Buffer.from(`302a300506032b6570032100${String(registered?.payload['public_key'])}`, 'hex')
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
    const signature = Buffer.from(String(attribution?.payload['signature']), 'hex')
    expect(verify(null, Buffer.from(text), key, signature)).toBe(true)
  })

  it('lends its name to nobody: not as a source, not as a producer', async () => {
    await register(service, 'eve')
    const body = { event_type: 'signal.curator.v1', node_id: 'eve', payload: { symbol: 'BTC' } }
    for (const source of ['ann', 'technical-analysis']) {
      expect((await submit({ ...body, source })).body).toMatchObject({
        status: 403,
        code: 'signal.source_reserved',
        source,
      })
    }
    const producer = { name: 'ann', domain: 'technical', endpoint: 'https://example.com/x' }
    expect((await service.call('POST', '/producers/register', { body: producer })).body).toMatchObject({
      status: 409,
      code: 'producer.duplicate',
    })
  })

  it('is removed by the operator only, and its name stays with the key', async () => {
    const remove = (headers = {}) => service.call('DELETE', `/contributors/${id}`, { headers })
    expect((await remove()).body).toMatchObject({ status: 403, code: 'contributor.key_protected' })
    expect((await remove(operator)).body).toEqual({ removed: id })
    const person = { node_id: 'ann', name: 'Eve', role: 'curator' }
    for (const body of [person, { ...person, public_key: OTHER.publicKey }]) {
      expect((await service.call('POST', '/contributors/register', { body })).body).toMatchObject({
        status: 403,
        code: 'contributor.key_protected',
      })
    }
    const own = { ...person, public_key: KEY.publicKey }
    const again = await service.call('POST', '/contributors/register', { body: own })
    expect(again.status).toBe(200)
    // A signature for the first registration is not valid for the second.
    expect((await submit(signed(fields({ dedupe_key: 'k9' })))).body).toMatchObject({
      code: 'contributor.signature_invalid',
    })
  })
})

onDefaultStore('authors', (store) => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService(await newHome(), await store())
    await registerProducer(service, 'p1', 'onchain')
  })
  const emit = (producer_id: string, signal_type: string) =>
    tool(service, 'emit_producer_signal', { producer_id, signal_type, payload: { symbol: 'BTC', price: 1 } })

  it('do not speak for a built-in producer', async () => {
    const { producers } = (await service.call('GET', '/producers/status')).body as {
      producers: Record<string, { kind: string }>
    }
    const builtin = Object.keys(producers).filter((name) => producers[name]?.kind === 'builtin')
    expect(builtin.length).toBeGreaterThan(5)
    for (const name of builtin) {
      expect([name, errorOf(await emit(name, 'signal.ta.v1'))]).toEqual([name, 'producer_reserved'])
      const body = { name, domain: 'technical', endpoint: 'https://example.com/x' }
      expect((await service.call('POST', '/producers/register', { body })).status).toBe(409)
      const person = { node_id: name, name, role: 'curator' }
      expect((await service.call('POST', '/contributors/register', { body: person })).status).toBe(409)
    }
    expect(await eventsOf(service, 'signal')).toEqual([])
  })

  it('emit the types of their domain only', async () => {
    for (const type of ['signal.ta.v1', 'signal.price_ws.v1', 'signal.weather.v1', 'signal.curator.v1']) {
      expect([type, errorOf(await emit('p1', type))]).toEqual([type, -32_602])
    }
    expect(await eventsOf(service, 'signal')).toEqual([])
    expect(errorOf(await emit('p1', 'signal.whale.v1'))).toBeUndefined()
  })
})

describe('svc signal', () => {
  afterAll(cleanUp)
  it('signs as the node of its home, and does not speak for another key', async () => {
    const keyed = async (publicKeyOf: (own: string) => string) => {
      const home = await newHome()
      const run = async (...words: readonly string[]) => {
        const { exitCode, stdout, stderr } = await svc(home, [...words, '--json'])
        return { exitCode, body: JSON.parse(exitCode === 0 ? stdout : stderr || stdout) as never }
      }
      expect((await svc(home, ['init', '--dev'])).exitCode).toBe(0)
      const { node_id, public_key } = (await run('identity', 'show')).body as {
        node_id: string
        public_key: string
      }
      // Every node that writes is first registered without a key.
      await svc(home, ['contributors', 'register', '--node-id', 'x', '--name', 'x', '--role', 'x'])
      expect((await run('contributors', 'remove', '--node-id', node_id)).exitCode).toBe(0)
      const words = ['--node-id', node_id, '--name', 'me', '--role', 'operator']
      expect(
        await run('contributors', 'register', ...words, '--public-key', publicKeyOf(public_key)),
      ).toMatchObject({
        exitCode: 0,
        body: { public_key: publicKeyOf(public_key) },
      })
      return await run('signal', 'BTC up', '--direction', 'bullish', '--conviction', '7')
    }
    expect(await keyed((own) => own)).toMatchObject({ exitCode: 0, body: { status: 'ok' } })
    expect(await keyed(() => OTHER.publicKey)).toMatchObject({ exitCode: 1 })
  })
})
