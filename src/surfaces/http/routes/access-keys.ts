import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { ACCESS_KEY_PREFIX, accessKeyRequest, newAccessKey } from '../../../core/operations/access-keys.ts'
import { assert } from '../../../core/shared/assert.ts'
import { accessKeyView, viewAccessKey, viewAccessKeys } from '../../../core/views/access-keys.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import { sha256Hex } from '../../../engine/sha256.ts'
import { TS } from '../examples.ts'
import { pathText } from '../fields.ts'
import { ok } from '../results.ts'
import { route, routes } from '../route.ts'

const accessKey = accessKeyView.meta({ id: 'AccessKey' })

const EXAMPLE = {
  name: 'desk-1',
  scopes: ['read', 'submit'],
  contributor: 'n1',
  producer: null,
  created_at: TS,
  expires_at: null,
  expired: false,
} satisfies z.input<typeof accessKeyView>

export const accessKeyRoutes = routes('Access', {
  listAccessKeys: route('GET', '/access-keys', 'access', {
    action: 'read',
    summary: 'Access keys, by name',
    description: 'Without their secrets, which nobody but their holders knows. A revoked key is not listed.',
    response: z.object({ keys: z.array(accessKey) }),
    example: { keys: [EXAMPLE] },
    handler: async (_input, { engine, clock }) =>
      ok({ keys: [...viewAccessKeys((await engine.fresh()).operations.accessKeys, isoNow(clock))] }),
  }),
  createAccessKey: route('POST', '/access-keys', 'access', {
    summary: 'Create an access key',
    description:
      'The secret is in this response and nowhere else: it is sent like a token, `Authorization: Bearer <secret>`. A key ' +
      'with a contributor or producer speaks for that one alone.',
    body: accessKeyRequest.meta({
      examples: [{ name: 'desk-1', scopes: ['read', 'submit'] }],
    }),
    response: z.object({ key: accessKey, secret: z.string() }),
    example: { key: EXAMPLE, secret: `${ACCESS_KEY_PREFIX}3q2-7wEjRWeJq83vASNFZ4mrze8BI0VniavN7wEjRWc` },
    successStatus: 201,
    problems: [
      'access_key.duplicate',
      'access_key.too_many',
      'access_key.expired',
      'access_key.author_unknown',
    ],
    handler: ({ body, execute }, { engine, clock }) => {
      const secret = ACCESS_KEY_PREFIX + randomBytes(32).toString('base64url')
      const key = newAccessKey(body, sha256Hex(secret))
      return execute({ kind: 'create-access-key', key, surface: 'api' }, () => {
        const created = engine.state.operations.accessKeys.get(key.hash)
        assert(created !== undefined, `access key ${key.name} must be known after it was created`)
        return { key: viewAccessKey(created, isoNow(clock)), secret }
      })
    },
  }),
  revokeAccessKey: route('DELETE', '/access-keys/:name', 'access', {
    summary: 'Revoke an access key',
    description: 'It ends at once, and so do the streams that were opened with it. Its name is free again.',
    params: z.object({ name: pathText('the name of the key', 'desk-1') }),
    response: z.object({ revoked: z.string() }),
    example: { revoked: 'desk-1' },
    problems: ['access_key.not_found'],
    handler: ({ params: { name }, execute }) =>
      execute({ kind: 'revoke-access-key', name, surface: 'api' }, () => ({ revoked: name })),
  }),
})
