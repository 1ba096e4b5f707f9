import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** Who is signed in: the API token, and until when. */
export interface Session {
  readonly token: string
  readonly expiresAtMs: number
}

const SESSION_COOKIE = 'svc_session'

const SALT_BYTES = 16
const IV_BYTES = 12
const TAG_BYTES = 16
const ALGORITHM = 'aes-256-gcm'

/** Seals sessions, so that the browser keeps them and cannot read them. */
export interface Sealer {
  readonly seal: (session: Session) => string
  /** Null for what was not sealed with the same secret, and for what is over. */
  readonly unseal: (text: string, nowMs: number) => Session | null
}

/**
 * Every process seals with a key of its own. It follows from the secret and a salt, and the salt stands in the cookie: a
 * later process that has the secret opens it, and seals with another key.
 */
export const createSealer = (secret: Uint8Array): Sealer => {
  const salt = randomBytes(SALT_BYTES)
  const ownKey = keyOf(secret, salt)
  return {
    seal: ({ token, expiresAtMs }) => {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(ALGORITHM, ownKey, iv)
      const sealed = [cipher.update(JSON.stringify([token, expiresAtMs]), 'utf8'), cipher.final()]
      return Buffer.concat([salt, iv, ...sealed, cipher.getAuthTag()]).toString('base64url')
    },
    unseal: (text, nowMs) => {
      const bytes = Buffer.from(text, 'base64url')
      if (bytes.length <= SALT_BYTES + IV_BYTES + TAG_BYTES) return null
      const given = bytes.subarray(0, SALT_BYTES)
      return opened(bytes.subarray(SALT_BYTES), given.equals(salt) ? ownKey : keyOf(secret, given), nowMs)
    },
  }
}

const opened = (bytes: Buffer, key: Uint8Array, nowMs: number): Session | null => {
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    const plain = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()])
    const [token, expiresAtMs] = JSON.parse(plain.toString('utf8')) as [string, number]
    return expiresAtMs > nowMs ? { token, expiresAtMs } : null
  } catch {
    // Not sealed by us: as good as no cookie.
    return null
  }
}

const keyOf = (secret: Uint8Array, salt: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, salt, SESSION_COOKIE, 32))

/** The session's cookie among those that the browser sent. */
export const sessionCookieOf = (header: string | undefined): string | null => {
  for (const part of (header ?? '').split(';')) {
    const [name, value] = part.trim().split('=', 2)
    if (name === SESSION_COOKIE && value !== undefined && value !== '') return value
  }
  return null
}

export const setCookie = (value: string, maxAgeMs: number, isSecure: boolean): string =>
  [
    `${SESSION_COOKIE}=${value}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Strict',
    `Max-Age=${Math.floor(maxAgeMs / 1000)}`,
    ...(isSecure ? ['Secure'] : []),
  ].join('; ')
