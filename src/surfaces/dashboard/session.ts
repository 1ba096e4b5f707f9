import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** Who is signed in: the API token, and until when. */
export interface Session {
  readonly token: string
  readonly expiresAtMs: number
}

const SESSION_COOKIE = 'svc_session'

const IV_BYTES = 12
const TAG_BYTES = 16
const ALGORITHM = 'aes-256-gcm'

/** The browser keeps it and cannot read it. */
export const seal = ({ token, expiresAtMs }: Session, key: Uint8Array): string => {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, iv)
  const sealed = [cipher.update(JSON.stringify([token, expiresAtMs]), 'utf8'), cipher.final()]
  return Buffer.concat([iv, ...sealed, cipher.getAuthTag()]).toString('base64url')
}

/** Null for what we did not seal, and for what is over. */
export const unseal = (text: string, key: Uint8Array, nowMs: number): Session | null => {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length <= IV_BYTES + TAG_BYTES) return null
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
