import { expect, it } from 'vitest'
import { fernetKeyFrom, kdfSchema, newKdf } from './password-key.ts'

it('holds the vector of the contract', async () => {
  const kdf = {
    name: 'pbkdf2_hmac_sha256',
    iterations: 480_000,
    salt_b64: 'AAECAwQFBgcICQoLDA0ODw==',
  } as const
  expect(await fernetKeyFrom('correct horse', kdf)).toBe('1-_-WE2gJyXy44SoriQKToYy0BvO65hZX04H3FJqztY=')
})

it('takes new salt each time', () => {
  expect(kdfSchema.parse(newKdf()).salt_b64).not.toBe(newKdf().salt_b64)
})

it.each([
  ['another function', { name: 'scrypt' }],
  ['too few iterations', { iterations: 479_999 }],
  ['iterations without end', { iterations: 1e12 }],
  ['short salt', { salt_b64: 'AAEC' }],
  ['salt that is not base64', { salt_b64: '%%' }],
])('refuses %s', (_name, change) => {
  expect(kdfSchema.safeParse({ ...newKdf(), ...change }).success).toBe(false)
})
