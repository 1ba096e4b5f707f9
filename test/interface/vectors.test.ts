import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { emit, eventsOf, register, registerProducer } from './acts.ts'
import { agreementOn, bullMarket } from './opinions.ts'
import { derivedId, hashOf, isSignedBy, sha256, unprovable, type EventRecord } from './proof.ts'
import { newHome, startService, type RunningService } from './service.ts'
import { onDefaultStore } from './stores.ts'

const PUBLIC_KEY = '8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c'
const NODE_ID = 'svc-8a88e3dd7409f195'

const IDENTITY = {
  node_id: NODE_ID,
  public_key: PUBLIC_KEY,
  alg: 'ed25519',
  created_at: '2026-02-20T00:29:58.000Z',
  private_key_enc:
    'gAAAAABpl6sGAAECAwQFBgcICQoLDA0OD5O3MkshedxjZ15itSF5ffkIPRNCHodHYpVqINbMdA7CabovaMUzx-RH8l-J4CH4GiMIYHZQfwa8snnCe8wu1YFyZVZdrjoDLWCWei7pA0c3',
  kdf: { name: 'pbkdf2_hmac_sha256', iterations: 480_000, salt_b64: 'AAECAwQFBgcICQoLDA0ODw==' },
}

const MESSAGE = { level: 2, prev_level: 0, reason: 'daily_loss', triggered_by: 'risk_monitor' }
const MESSAGE_TEXT = '{"level":2,"prev_level":0,"reason":"daily_loss","triggered_by":"risk_monitor"}'
const MESSAGE_SIGNATURE =
  'db1c806067734ef81ea84286e5b214b40297af8991a69b193224088792e5cda9590c88375bf2c4c16b672ebabe30481c805f8c368b5d9769ada2bbfe9cb9ea00'

const JSON_IN = String.raw`{"\ud83d\ude00":1,"\uff21":2,"b":[7.0,1e21,1e-7,0.000001,-0,1e20,0.1],"a":"\u20ac\n\u0007\"\\/","10":true,"9":null}`
const JSON_OUT = String.raw`{"10":true,"9":null,"a":"€\n\u0007\"\\/","b":[7,1e+21,1e-7,0.000001,0,100000000000000000000,0.1],"😀":1,"Ａ":2}`

describe('the checks of these tests', () => {
  const record = {
    seq: 1,
    schema_version: 'v1',
    trace_id: null,
    dedupe_key: null,
    prev_hash: '',
    hash: '',
    signature: '',
    signer: '',
  }
  const first = {
    ...record,
    ts: '2026-02-20T00:29:58.000Z',
    id: '11111111-1111-4111-8111-111111111111',
    type: 'signal.curator.v1',
    source: 'operator:telegram',
  }
  const second = {
    ...record,
    ts: '2026-02-20T00:30:00.123Z',
    id: '22222222-2222-4222-8222-222222222222',
    type: 'system.kill_switch.v1',
    source: 'brain.kill_switch',
    trace_id: 't-1',
    dedupe_key: 'k-1',
    prev_hash: 'e306ee83c5519c4bdde142d1998c196026f4448e11417f4825d42354cb3dfd7f',
  }
  const third = { ...record, ts: '2026-01-01T00:00:00.000Z', id: 'e', type: 'brain.cycle.v1', source: null }

  it('agree with the published examples of hashes', () => {
    const text = '{"conviction":7.5,"direction":"bullish","rationale":"Größe | ok","symbol":"BTC"}'
    expect(hashOf(first, text)).toBe(second.prev_hash)
    expect(hashOf(second, MESSAGE_TEXT)).toBe(
      'a9366495fcca9f4e1317af9e3d0b39ab6cf4ae3c5692964e3fd4940dcbe82ff7',
    )
    expect(hashOf(third, '{}')).toBe('48f343d4a6c340dcf6262c409573799bd46e564ca53ad775bb2cf953b6dbedc6')
    expect(sha256(JSON_OUT)).toBe('3010fc0342c2687a7c27704da3899f013b6013b5b1ccb669d4b13d51123d77f6')
  })

  it('agree with the published examples of signatures and derived ids', () => {
    expect(isSignedBy(PUBLIC_KEY, MESSAGE_TEXT, MESSAGE_SIGNATURE)).toBe(true)
    const order = derivedId('order', '33333333-3333-7333-8333-333333333333')
    const position = derivedId('position', order)
    const intent = derivedId('karma.intent', position)
    expect([order, position, derivedId('close', position), intent]).toEqual([
      'afbe97fa-70ee-8ebc-86ab-330e9d2a8654',
      '7a6f5fd1-3fec-8898-920c-316e45423d1a',
      'e2d42972-ee18-845b-9ad3-c989720af520',
      '5816654f-95fc-81f1-b2b2-170ceb326439',
    ])
    expect(derivedId('karma.receipt', `[["${intent}"],null]`)).toBe('acf25989-4a62-8c6e-85e4-9409367e8155')
  })
})

onDefaultStore('the published examples', (store) => {
  let service: RunningService
  beforeAll(async () => {
    const home = await newHome()
    await mkdir(join(home, 'identity'), { mode: 0o700 })
    await writeFile(join(home, 'identity', 'identity.json'), JSON.stringify(IDENTITY), { mode: 0o600 })
    service = await startService(home, { ...(await store()), SVC_MASTER_PASSWORD: 'correct horse' })
  })
  const record = async (id: string): Promise<EventRecord> => (await service.call('GET', `/events/${id}`)).body

  it('an encrypted identity is read, and signs as it must', async () => {
    await registerProducer(service, 'p1', 'free')
    const id = await emit(service, 'p1', 'signal.free.v1', MESSAGE)
    expect(await record(id)).toMatchObject({ signer: NODE_ID, signature: MESSAGE_SIGNATURE })
  })

  it('payloads are hashed in their canonical form', async () => {
    await register(service, 'n1')
    const body = `{"event_type":"signal.curator.v1","node_id":"n1","payload":${JSON_IN}}`
    const { event_id: id } = (await service.call('POST', '/signals/submit', { body })).body as {
      event_id: string
    }
    const stored = await record(id)
    expect(hashOf(stored, JSON_OUT)).toBe(stored.hash)
    expect(isSignedBy(PUBLIC_KEY, JSON_OUT, stored.signature)).toBe(true)
  })

  it('what follows from an intent is named after it', async () => {
    await bullMarket(service)
    await agreementOn(service, 'ETH')
    const { intents } = (await service.call('POST', '/brain/run')).body as {
      intents: readonly { intent_id: string }[]
    }
    expect(intents).toHaveLength(1)
    const [failed] = await eventsOf(service, 'execution.order_failed')
    expect(failed?.payload['order_id']).toBe(derivedId('order', intents[0]?.intent_id ?? ''))
    const { items } = (await service.call('GET', '/events?order=asc&limit=500')).body as {
      items: readonly EventRecord[]
    }
    expect(unprovable(items)).toEqual([])
  })
})
