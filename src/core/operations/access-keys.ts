import { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { ACCESS_SCOPES } from '../events/system.ts'
import type { NodeId, Timestamp } from '../shared/brand.ts'
import { accept, refuse, type Decision } from '../shared/decision.ts'
import { faultOf } from '../shared/faults.ts'
import { plainText } from '../shared/text.ts'
import { timestamp } from '../shared/time.ts'

/** Access keys: callers with a name and rights of their own. Only the holder of a key knows its secret. */

export type AccessScope = (typeof ACCESS_SCOPES)[number]

/** The only author that the holder of a key may submit for. */
export interface KeyAuthor {
  readonly kind: 'contributor' | 'producer'
  /** The node_id of the contributor, or the name of the producer. */
  readonly id: string
}

export interface AccessKey {
  readonly name: string
  /** SHA-256 of the secret, in hex. */
  readonly hash: string
  readonly scopes: readonly AccessScope[]
  readonly author: KeyAuthor | null
  readonly createdAt: Timestamp
  readonly expiresAt: Timestamp | null
}

/**
 * Access keys by the hash of their secrets. A revoked key is deleted and its name becomes free again. The same happens
 * when the author of a key is removed, because a later author of that name may be another one.
 */
export type AccessKeys = PersistentMap<string, AccessKey>

export const INITIAL_ACCESS_KEYS: AccessKeys = PersistentMap()

export const ACCESS_KEYS_MAX = 1000

/** Start of every secret, by which redaction and scanners recognise it. */
export const ACCESS_KEY_PREFIX = 'sk-svc-'

export type NewAccessKey = PayloadOf<'system.access_key_created.v1'>

/** Body of a request for a key, over HTTP and on the command line. */
export const accessKeyRequest = z
  .object({
    name: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
        error: 'must be 1 to 64 letters, digits, dots, hyphens and underscores, a letter or digit first',
      })
      .meta({ description: 'stands in the audit of every request made with the key' }),
    scopes: z
      .array(z.enum(ACCESS_SCOPES))
      .min(1)
      .max(ACCESS_SCOPES.length)
      .meta({ description: 'what the key may do, nothing else' }),
    contributor: plainText(128)
      .optional()
      .meta({ description: 'node_id of the only contributor that the key speaks for' }),
    producer: plainText(128)
      .optional()
      .meta({ description: 'name of the only producer that the key speaks for' }),
    expires_at: timestamp().optional().meta({ description: 'when it ends; never if absent' }),
  })
  .refine(({ contributor, producer }) => contributor === undefined || producer === undefined, {
    ...faultOf('conflict', 'must be absent: the key speaks for a contributor'),
    path: ['producer'],
  })
  .refine(
    ({ contributor, producer, scopes }) =>
      !scopes.includes('operate') || (contributor === undefined && producer === undefined),
    {
      ...faultOf('conflict', 'must not include operate: the key speaks for one author only'),
      path: ['scopes'],
    },
  )

export const newAccessKey = (
  { name, scopes, contributor, producer, expires_at }: z.output<typeof accessKeyRequest>,
  hash: string,
): NewAccessKey => ({
  name,
  hash,
  scopes: ACCESS_SCOPES.filter((scope) => scopes.includes(scope)),
  contributor: (contributor as NodeId | undefined) ?? null,
  producer: producer ?? null,
  expires_at: expires_at ?? null,
})

export const keyNamed = (keys: AccessKeys, name: string): AccessKey | null =>
  keys.find((key) => key.name === name) ?? null

/** A key is invalid from `expiresAt` on, that instant included. */
export const isExpired = ({ expiresAt }: AccessKey, now: Timestamp): boolean =>
  expiresAt !== null && now >= expiresAt

interface KeyRules {
  readonly now: Timestamp
  readonly surface: 'api' | 'cli'
  readonly isKnownAuthor: (author: KeyAuthor) => boolean
}

export const createAccessKey = (
  keys: AccessKeys,
  key: NewAccessKey,
  { now, surface, isKnownAuthor }: KeyRules,
): Decision => {
  const { name, expires_at } = key
  if (keyNamed(keys, name) !== null)
    return refuse('access_key.duplicate', `there is an access key ${name} already`, { name })
  if (keys.size >= ACCESS_KEYS_MAX)
    return refuse('access_key.too_many', `there are ${ACCESS_KEYS_MAX} access keys: revoke some first`)
  if (expires_at !== null && now >= expires_at)
    return refuse('access_key.expired', `${expires_at} has passed already`, { expires_at })
  const author = authorOf(key)
  if (author !== null && !isKnownAuthor(author))
    return refuse('access_key.author_unknown', `no ${author.kind} ${author.id} is registered`, {
      [author.kind]: author.id,
    })
  return accept({ type: 'system.access_key_created.v1', source: surface, payload: key })
}

export const revokeAccessKey = (keys: AccessKeys, name: string, surface: 'api' | 'cli'): Decision =>
  keyNamed(keys, name) === null
    ? refuse('access_key.not_found', `there is no access key ${name}`, { name })
    : accept({ type: 'system.access_key_revoked.v1', source: surface, payload: { name } })

export const evolveAccessKeys = (keys: AccessKeys, event: KnownEvent): AccessKeys => {
  switch (event.type) {
    case 'system.access_key_created.v1': {
      const { name, hash, scopes, expires_at: expiresAt } = event.payload
      const author = authorOf(event.payload)
      return keys.set(hash, { name, hash, scopes, author, createdAt: event.ts, expiresAt })
    }
    case 'system.access_key_revoked.v1':
      return keys.filter(({ name }) => name !== event.payload.name)
    case 'contributor.removed.v1':
      return withoutAuthor(keys, { kind: 'contributor', id: event.payload.node_id })
    case 'producer.removed.v1':
      return withoutAuthor(keys, { kind: 'producer', id: event.payload.name })
    default:
      return keys
  }
}

const withoutAuthor = (keys: AccessKeys, { kind, id }: KeyAuthor): AccessKeys =>
  keys.filter(({ author }) => author?.kind !== kind || author.id !== id)

const authorOf = ({
  contributor,
  producer,
}: Pick<NewAccessKey, 'contributor' | 'producer'>): KeyAuthor | null => {
  if (contributor !== null) return { kind: 'contributor', id: contributor }
  return producer === null ? null : { kind: 'producer', id: producer }
}
