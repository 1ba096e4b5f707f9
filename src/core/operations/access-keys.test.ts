import { describe, expect, it } from 'vitest'
import { given, stateAfter, testContext } from '../../../test/given.fixture.ts'
import type { NewEvent } from '../events/catalogue.ts'
import { contributorId, nodeId, timestampOf } from '../shared/brand.ts'
import { viewAccessKeys } from '../views/access-keys.ts'
import {
  ACCESS_KEYS_MAX,
  accessKeyRequest,
  isExpired,
  keyNamed,
  newAccessKey,
  type NewAccessKey,
} from './access-keys.ts'

const reader: NewAccessKey = {
  name: 'reader',
  hash: '4f'.repeat(32),
  scopes: ['read', 'submit'],
  contributor: null,
  producer: null,
  expires_at: null,
}
const created = (key: NewAccessKey): NewEvent => ({
  type: 'system.access_key_created.v1',
  source: 'cli',
  payload: key,
})
const revoked = (name: string): NewEvent => ({
  type: 'system.access_key_revoked.v1',
  source: 'cli',
  payload: { name },
})
const ann: NewEvent = {
  type: 'contributor.registered.v1',
  source: 'cli',
  payload: {
    contributor_id: contributorId('c1'),
    node_id: nodeId('ann'),
    name: 'Ann',
    role: 'curator',
    metadata: {},
  },
}
const p1: NewEvent = {
  type: 'producer.registered.v1',
  source: 'cli',
  payload: { name: 'p1', domain: 'onchain', endpoint: 'https://example.com/x', schedule: '*/5 * * * *' },
}
const create = (key: NewAccessKey) => ({ kind: 'create-access-key', key, surface: 'cli' }) as const
const revoke = (name: string) => ({ kind: 'revoke-access-key', name, surface: 'cli' }) as const

describe('creating an access key', () => {
  it('stores its hash, scopes, author and expiry', () => {
    const expires_at = timestampOf('2026-03-01T00:00:00.000Z')
    const key = { ...reader, contributor: nodeId('ann'), expires_at }
    const state = given(ann).when(create(key)).then({ type: 'system.access_key_created.v1', payload: key })
    expect(keyNamed(state.operations.accessKeys, 'reader')).toMatchObject({
      hash: reader.hash,
      scopes: ['read', 'submit'],
      author: { kind: 'contributor', id: 'ann' },
      expiresAt: expires_at,
    })
  })

  it('refuses a name that is taken', () => {
    given(created(reader))
      .when(create({ ...reader, hash: '00' }))
      .thenRefused('access_key.duplicate', { name: 'reader' })
  })

  it('takes the name of a revoked key', () => {
    given(created(reader), revoked('reader'))
      .when(create(reader))
      .then({ type: 'system.access_key_created.v1' })
  })

  it('refuses an author that is not registered, a built-in producer included', () => {
    for (const author of [
      { contributor: nodeId('bob') },
      { producer: 'p2' },
      { producer: 'technical_analysis' },
    ])
      given(ann, p1)
        .when(create({ ...reader, ...author }))
        .thenRefused('access_key.author_unknown')
    given(ann, p1)
      .when(create({ ...reader, producer: 'p1' }))
      .then({ type: 'system.access_key_created.v1' })
  })

  it('refuses a contributor by the name of a producer, and the other way round', () => {
    given(ann, p1)
      .when(create({ ...reader, contributor: nodeId('p1') }))
      .thenRefused('access_key.author_unknown')
    given(ann, p1)
      .when(create({ ...reader, producer: 'ann' }))
      .thenRefused('access_key.author_unknown')
  })

  it('refuses an expiry that has passed, by the clock of the engine', () => {
    const expires_at = timestampOf('2026-02-20T00:30:00.000Z')
    given()
      .when(create({ ...reader, expires_at }))
      .thenRefused('access_key.expired', { expires_at })
    const before = testContext({ now: timestampOf('2026-02-20T00:29:59.999Z') })
    given()
      .when(create({ ...reader, expires_at }), before)
      .then({ type: 'system.access_key_created.v1' })
  })

  it('refuses more keys than there may be', () => {
    const many = Array.from({ length: ACCESS_KEYS_MAX }, (_, index) =>
      created({ ...reader, name: `k${index}`, hash: String(index) }),
    )
    given(...many)
      .when(create(reader))
      .thenRefused('access_key.too_many')
    given(...many, revoked('k7'))
      .when(create(reader))
      .then({ type: 'system.access_key_created.v1' })
  })
})

describe('revoking an access key', () => {
  it('forgets it', () => {
    const state = given(created(reader))
      .when(revoke('reader'))
      .then({
        type: 'system.access_key_revoked.v1',
        payload: { name: 'reader' },
      })
    expect(state.operations.accessKeys.size).toBe(0)
  })

  it('refuses a name that no key has', () => {
    for (const name of ['other', '__proto__', 'constructor'])
      given(created(reader)).when(revoke(name)).thenRefused('access_key.not_found', { name })
  })
})

describe('an access key', () => {
  it('ends with its author, and does not speak for the next one of that name', () => {
    const keys = [
      created({ ...reader, name: 'of-ann', hash: '01', contributor: nodeId('ann') }),
      created({ ...reader, name: 'of-p1', hash: '02', producer: 'p1' }),
      created({ ...reader, name: 'of-nobody', hash: '03' }),
    ]
    const namesAfter = (...events: readonly NewEvent[]) =>
      [...stateAfter([ann, p1, ...keys, ...events]).operations.accessKeys.values()].map(({ name }) => name)
    const annRemoved: NewEvent = {
      type: 'contributor.removed.v1',
      source: 'cli',
      payload: { contributor_id: contributorId('c1'), node_id: nodeId('ann') },
    }
    const p1Removed: NewEvent = { type: 'producer.removed.v1', source: 'cli', payload: { name: 'p1' } }
    const nextAnn = { ...ann, payload: { ...ann.payload, contributor_id: contributorId('c2') } } as NewEvent
    expect(namesAfter(annRemoved, nextAnn)).toEqual(['of-p1', 'of-nobody'])
    expect(namesAfter(p1Removed, p1)).toEqual(['of-ann', 'of-nobody'])
  })

  it('ends at its expiry', () => {
    const expires_at = timestampOf('2026-03-01T00:00:00.000Z')
    const { accessKeys } = stateAfter([created({ ...reader, expires_at })]).operations
    const key = keyNamed(accessKeys, 'reader')
    expect(key === null || isExpired(key, timestampOf('2026-02-28T23:59:59.999Z'))).toBe(false)
    expect(key !== null && isExpired(key, expires_at)).toBe(true)
  })

  it('is shown without its hash', () => {
    const { accessKeys } = stateAfter([created(reader)]).operations
    const [shown] = viewAccessKeys(accessKeys, timestampOf('2026-02-20T00:30:00.000Z'))
    expect(shown).toEqual({
      name: 'reader',
      scopes: ['read', 'submit'],
      contributor: null,
      producer: null,
      created_at: '2026-02-20T00:30:00.000Z',
      expires_at: null,
      expired: false,
    })
  })
})

describe('a request for an access key', () => {
  it.each([
    [{ name: '', scopes: ['read'] }],
    [{ name: 'a b', scopes: ['read'] }],
    [{ name: 'x'.repeat(65), scopes: ['read'] }],
    [{ name: 'reader', scopes: [] }],
    [{ name: 'reader', scopes: ['everything'] }],
    [{ name: 'reader', scopes: ['read'], contributor: 'ann', producer: 'p1' }],
    [{ name: 'reader', scopes: ['read', 'operate'], contributor: 'ann' }],
    [{ name: 'reader', scopes: ['operate'], producer: 'p1' }],
    [{ name: 'reader', scopes: ['read'], expires_at: 'tomorrow' }],
  ])('is refused: %j', (request) => {
    expect(accessKeyRequest.safeParse(request).success).toBe(false)
  })

  it('names each scope once', () => {
    const request = accessKeyRequest.parse({ name: 'reader', scopes: ['submit', 'read', 'submit'] })
    expect(newAccessKey(request, 'hash')).toEqual({ ...reader, hash: 'hash' })
  })
})

describe('the audit', () => {
  const entry = { resource: '/x', action: 'read', outcome: 'allowed', reason: null, request_id: 'r' } as const

  it('names the access key of a request', () => {
    const record = (more: object) =>
      ({ kind: 'record-access', surface: 'api', entry: { ...entry, ...more } }) as const
    given()
      .when(record({ access_key: 'reader' }))
      .then({ type: 'system.audit.v1', payload: { access_key: 'reader' } })
  })
})
