import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { canonicalJson } from '../../core/log/canonical-json.ts'
import type { JsonObject } from '../../core/shared/json.ts'

export const CONFIRMATION_MS = 60_000

/** The call that a confirmation is valid for. */
export interface Confirmed {
  readonly tool: string
  readonly arguments: JsonObject
}

/** Proves that the caller saw what the call would do. Nothing is remembered: the code is authenticated by its HMAC. */
export const confirmationOf = (about: Confirmed, expiresMs: number): string =>
  `${expiresMs}.${sealOf(about, expiresMs)}`

export const checkConfirmation = (
  code: string,
  about: Confirmed,
  nowMs: number,
): 'valid' | 'expired' | 'foreign' => {
  const [, expires = '', seal = ''] = FORM.exec(code) ?? []
  if (expires === '') return 'foreign'
  const expiresMs = Number(expires)
  const isOurs = timingSafeEqual(Buffer.from(seal), Buffer.from(sealOf(about, expiresMs)))
  if (!isOurs) return 'foreign'
  return nowMs < expiresMs ? 'valid' : 'expired'
}

const FORM = /^([0-9]{1,15})\.([0-9a-f]{64})$/

/** Of this process: a restart invalidates every code. */
const SECRET = randomBytes(32)

const sealOf = ({ tool, arguments: given }: Confirmed, expiresMs: number): string =>
  createHmac('sha256', SECRET)
    .update(canonicalJson({ tool, arguments: given, expires_ms: expiresMs }))
    .digest('hex')
