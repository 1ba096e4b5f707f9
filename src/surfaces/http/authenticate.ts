import { hash, timingSafeEqual } from 'node:crypto'
import type { Configuration } from '../../core/config/schema.ts'
import { problem, type Problem, type ProblemCode } from './problems.ts'
import type { Access } from './route.ts'

export type AuthResult =
  /** `anonymous`: no token was required. */
  | { readonly status: 'admitted'; readonly caller: 'anonymous' | 'bearer' | 'operator' }
  | { readonly status: 'denied'; readonly problem: Problem }

export interface AuthRequest {
  readonly access: Access
  readonly authorization: string | undefined
  readonly configuration: Configuration
  /** Whether an empty token in the configuration admits every caller. */
  readonly insecureOk: boolean
}

/** Checks the caller's token against the current configuration, so a changed token works at once. */
export const authenticate = ({
  access,
  authorization,
  configuration,
  insecureOk,
}: AuthRequest): AuthResult => {
  if (access === 'public') return ANONYMOUS
  const digests = digestsOf(configuration)
  const needsOperator = access === 'operator' && digests.operator !== null
  if (digests.bearer === null && insecureOk && !needsOperator) return ANONYMOUS
  const given = tokenOf(authorization)
  if (given.status === 'denied') return given
  const digest = digestOf(given.token)
  const isOperator = isSame(digest, digests.operator)
  const isBearer = isSame(digest, digests.bearer)
  if (isOperator) return { status: 'admitted', caller: 'operator' }
  if (!isBearer) return unauthorized('auth.invalid_token', 'The bearer token is not valid')
  if (needsOperator) {
    return {
      status: 'denied',
      problem: problem('auth.forbidden', 'This endpoint needs the operator token (api.operator_token)'),
    }
  }
  return { status: 'admitted', caller: 'bearer' }
}

const ANONYMOUS: AuthResult = { status: 'admitted', caller: 'anonymous' }

type Given = { readonly status: 'given'; readonly token: Buffer } | Extract<AuthResult, { status: 'denied' }>

/** Split at the first blank, scheme in any case, token trimmed. */
const tokenOf = (authorization = ''): Given => {
  if (authorization.trim() === '') {
    return unauthorized('auth.missing_token', 'Send the header Authorization: Bearer <token>')
  }
  const blank = authorization.indexOf(' ')
  const scheme = blank === -1 ? authorization : authorization.slice(0, blank)
  const token = blank === -1 ? '' : authorization.slice(blank + 1).trim()
  if (scheme.toLowerCase() !== 'bearer' || token === '') {
    return unauthorized('auth.invalid_header', 'The Authorization header must be: Bearer <token>')
  }
  // Node reads header bytes as Latin-1; the configured token is UTF-8.
  return { status: 'given', token: Buffer.from(token, 'latin1') }
}

const unauthorized = (
  code: Extract<ProblemCode, 'auth.missing_token' | 'auth.invalid_header' | 'auth.invalid_token'>,
  detail: string,
): Extract<AuthResult, { status: 'denied' }> => ({
  status: 'denied',
  problem: problem(code, detail, { headers: { 'www-authenticate': 'Bearer' } }),
})

interface Digests {
  /** Null while the token is not set. */
  readonly bearer: Buffer | null
  readonly operator: Buffer | null
}

const known = new WeakMap<Configuration, Digests>()

/** A configuration never changes; a new one is a new object. */
const digestsOf = (configuration: Configuration): Digests => {
  const cached = known.get(configuration)
  if (cached !== undefined) return cached
  const { auth_token, operator_token } = configuration.api
  const digests = {
    bearer: auth_token === '' ? null : digestOf(Buffer.from(auth_token)),
    operator: operator_token === '' ? null : digestOf(Buffer.from(operator_token)),
  }
  known.set(configuration, digests)
  return digests
}

const digestOf = (token: Buffer): Buffer => hash('sha256', token, 'buffer')

const isSame = (digest: Buffer, expected: Buffer | null): boolean =>
  expected !== null && timingSafeEqual(digest, expected)
