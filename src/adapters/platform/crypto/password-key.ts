import { pbkdf2, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { z } from 'zod'

/** How a key was made from a password, as written beside what it protects. */
export const kdfSchema = z.object({
  name: z.literal('pbkdf2_hmac_sha256'),
  // Fewer would be easy to guess, many more would hold up the start for minutes.
  iterations: z.int().min(480_000).max(10_000_000),
  salt_b64: z.base64().refine((text) => Buffer.from(text, 'base64').length === SALT_BYTES, '16 bytes'),
})

export type Kdf = z.infer<typeof kdfSchema>

export const newKdf = (): Kdf => ({
  name: 'pbkdf2_hmac_sha256',
  iterations: 480_000,
  salt_b64: randomBytes(SALT_BYTES).toString('base64'),
})

/** The Fernet key of a password. Takes a good part of a second, on another thread. */
export const fernetKeyFrom = async (password: string, kdf: Kdf): Promise<string> => {
  const salt = Buffer.from(kdf.salt_b64, 'base64')
  const bytes = await deriveKey(password, salt, kdf.iterations, KEY_BYTES, 'sha256')
  // 32 bytes always end in one padding character, which Node's base64url leaves out.
  return `${bytes.toString('base64url')}=`
}

const SALT_BYTES = 16
const KEY_BYTES = 32
const deriveKey = promisify(pbkdf2)
