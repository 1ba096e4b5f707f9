import { z } from 'zod'
import { ACCESS_SCOPES } from '../events/system.ts'
import { isExpired, type AccessKey, type AccessKeys } from '../operations/access-keys.ts'
import type { Timestamp } from '../shared/brand.ts'

/** The hash is left out, because no reader needs it. */
export const accessKeyView = z.object({
  name: z.string(),
  scopes: z.array(z.enum(ACCESS_SCOPES)),
  contributor: z.string().nullable(),
  producer: z.string().nullable(),
  created_at: z.string(),
  expires_at: z.string().nullable(),
  expired: z.boolean(),
})

export type AccessKeyView = z.infer<typeof accessKeyView>

/** Access keys by name. */
export const viewAccessKeys = (keys: AccessKeys, now: Timestamp): readonly AccessKeyView[] =>
  [...keys.values()]
    .map((key) => viewAccessKey(key, now))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))

export const viewAccessKey = (key: AccessKey, now: Timestamp): AccessKeyView => {
  const { name, scopes, author, createdAt, expiresAt } = key
  return {
    name,
    scopes: [...scopes],
    contributor: author?.kind === 'contributor' ? author.id : null,
    producer: author?.kind === 'producer' ? author.id : null,
    created_at: createdAt,
    expires_at: expiresAt,
    expired: isExpired(key, now),
  }
}
