import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { dirname } from 'node:path'

/** A signed-in session: its API token, and its expiry. */
export interface Session {
  /** Id of this sign-in, which a sign-out ends. */
  readonly id: string
  readonly token: string
  readonly expiresAtMs: number
}

const SESSION_COOKIE = 'svc_session'

const SALT_BYTES = 16
const IV_BYTES = 12
const TAG_BYTES = 16
const ALGORITHM = 'aes-256-gcm'

/** Seals sessions, so that the browser can store but not read them. */
export interface Sealer {
  readonly seal: (session: Omit<Session, 'id'>) => string
  /** Null if the text was sealed with another secret or has expired. */
  readonly unseal: (text: string, nowMs: number) => Session | null
}

/**
 * Every process seals with its own key, derived from the secret and a salt. The salt is part of the cookie, so a later
 * process with the same secret can open it.
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
      const session = opened(
        bytes.subarray(SALT_BYTES),
        given.equals(salt) ? ownKey : keyOf(secret, given),
        nowMs,
      )
      // The id is a hash of the bytes, because one session can be written as several texts.
      return session && { id: hash('sha256', bytes, 'hex'), ...session }
    },
  }
}

const opened = (bytes: Buffer, key: Uint8Array, nowMs: number): Omit<Session, 'id'> | null => {
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    const plain = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()])
    const [token, expiresAtMs] = JSON.parse(plain.toString('utf8')) as [string, number]
    return expiresAtMs > nowMs ? { token, expiresAtMs } : null
  } catch {
    // Not sealed by this service: treated like a missing cookie.
    return null
  }
}

const keyOf = (secret: Uint8Array, salt: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, salt, SESSION_COOKIE, 32))

/** The session cookie of a request. */
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

/**
 * Sessions that were ended by a sign-out before they expired. The browser holds the session, so the server must
 * remember the invalid ones. The file keeps them over a restart, and shares them between processes.
 */
export class EndedSessions {
  readonly #file: string
  #ended: ReadonlyMap<string, number> = new Map()
  #readVersion = ''

  constructor(file: string) {
    this.#file = file
  }

  has(id: string): boolean {
    return this.#current().has(id)
  }

  /** Stores the id before it returns, and drops expired ids. */
  add(id: string, expiresAtMs: number, nowMs: number): void {
    const kept = [...this.#current()].filter(([, expires]) => expires > nowMs)
    const ended = new Map([...kept, [id, expiresAtMs] as const])
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 })
    const draft = `${this.#file}.${randomUUID()}`
    writeFileSync(draft, [...ended].map(([name, expires]) => `${name} ${expires}\n`).join(''), {
      mode: 0o600,
    })
    renameSync(draft, this.#file)
    this.#ended = ended
    this.#readVersion = this.#version()
  }

  /** The stored sessions. The file is read again only when it has changed. */
  #current(): ReadonlyMap<string, number> {
    const version = this.#version()
    if (version === this.#readVersion) return this.#ended
    this.#ended = new Map(
      version === '' ? [] : readFileSync(this.#file, 'utf8').split('\n').filter(Boolean).map(entryOf),
    )
    this.#readVersion = version
    return this.#ended
  }

  /** Empty if the file does not exist. */
  #version(): string {
    const found = statSync(this.#file, { throwIfNoEntry: false })
    return found === undefined ? '' : `${found.ino} ${found.mtimeMs} ${found.size}`
  }
}

const entryOf = (line: string): readonly [string, number] => {
  const [id = '', expires = '0'] = line.split(' ')
  return [id, Number(expires)]
}

/**
 * True if the request comes from a page of the dashboard. Browsers always send this header for a write; a request
 * without it is refused.
 */
export const isSameOrigin = (headers: IncomingHttpHeaders): boolean =>
  hasOrigin(headers) && !isCrossOrigin(headers)

/** True if the browser reports a page of another origin. */
export const isCrossOrigin = (headers: IncomingHttpHeaders): boolean => {
  const site = headers['sec-fetch-site']
  // Pages cannot set this header, so it decides if it is present.
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  return headers.origin !== undefined && hostOf(headers.origin) !== headers.host?.toLowerCase()
}

/** True behind a proxy that terminates TLS, which only its header shows. */
export const isBehindTls = (headers: IncomingHttpHeaders): boolean => {
  const forwarded = headers['x-forwarded-proto']
  return typeof forwarded === 'string' && forwarded.split(',')[0]?.trim() === 'https'
}

const hasOrigin = (headers: IncomingHttpHeaders): boolean =>
  headers.origin !== undefined || headers['sec-fetch-site'] === 'same-origin'

const hostOf = (origin: string): string | null => (URL.canParse(origin) ? new URL(origin).host : null)
