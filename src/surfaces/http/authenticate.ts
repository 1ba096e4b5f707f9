import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Configuration } from '../../core/config/schema.ts'
import { ACCESS_KEY_PREFIX, isExpired, type AccessKey } from '../../core/operations/access-keys.ts'
import { isoNow } from '../../engine/iso-now.ts'
import {
  ANONYMOUS,
  bearer,
  holderOfKey,
  mayDo,
  OPERATOR,
  scopeFor,
  visitor,
  withoutOperator,
  type Caller,
  type Need,
} from '../caller.ts'
import type { ProblemCode } from '../problem-codes.ts'
import { problem, type Problem } from './problems.ts'
import { needOf, type Route, type Service } from './route.ts'

export type AuthResult =
  | { readonly status: 'admitted'; readonly caller: Caller }
  /** `caller` is known if it only lacks a right. */
  | { readonly status: 'denied'; readonly problem: Problem; readonly caller: Caller }

type AuthDependencies = Pick<Service, 'configuration' | 'insecureOk' | 'engine' | 'clock'>

/**
 * Identifies the sender of the request, and checks the right that the route needs. A page of the documentation has no
 * route. Uses the current configuration and state, so a changed token and a revoked key take effect at once.
 */
export const authenticate = (
  { headers: { authorization, [ACT_WITHOUT]: without } }: FastifyRequest,
  route: Route | undefined,
  service: AuthDependencies,
): AuthResult => {
  const current = service.configuration.current()
  const need = route === undefined ? 'public' : needOf(route, current)
  if (need === 'public') return { status: 'admitted', caller: ANONYMOUS }
  const digests = digestsOf(current)
  const known = holderOf(authorization, digests, service)
  if (known.status === 'denied') {
    const isOpen = digests.bearer === null && service.insecureOk
    const caller = visitor(digests.operator !== null)
    return isOpen && mayDo(caller, need) ? { status: 'admitted', caller } : known
  }
  const caller = without === 'operate' ? withoutOperator(known.caller) : known.caller
  if (mayDo(caller, need)) return { status: 'admitted', caller }
  return { status: 'denied', problem: forbidden(caller, need), caller }
}

/** Header with which a client gives up a right. The dashboard sends it with the access key of a session. */
const ACT_WITHOUT = 'x-act-without'

/** Waits for the newest events: keys that another process created or revoked count too. */
export const awaitNewestKeys = async (
  { headers: { authorization = '' } }: FastifyRequest,
  { engine }: Pick<Service, 'engine'>,
): Promise<void> => {
  if (authorization.includes(ACCESS_KEY_PREFIX)) await engine.fresh()
}

export const isValidKey = (key: AccessKey, service: Pick<AuthDependencies, 'engine' | 'clock'>): boolean =>
  keyWith(key.hash, service) !== null

const forbidden = (caller: Caller, need: Need): Problem => {
  if (need === 'access') return problem('auth.forbidden', ACCESS_NEEDS)
  if (caller.key === null || (need === 'operator' && caller.key.scopes.includes('operate')))
    return problem('auth.forbidden', 'This needs the operator token (api.operator_token)')
  const scope = scopeFor(need)
  return problem('auth.scope_missing', `The access key does not have the scope ${scope}`, {
    extras: { scope },
  })
}

const ACCESS_NEEDS =
  'Access keys are managed with the operator token (api.operator_token), or with "svc keys" on the machine of the service'

/** Caller that holds the given token. */
const holderOf = (
  authorization: string | undefined,
  { bearer: bearerDigest, operator }: Digests,
  service: AuthDependencies,
): AuthResult => {
  const given = tokenOf(authorization)
  if (given.status === 'denied') return given
  const digest = digestOf(given.token)
  const isOperator = isSame(digest, operator)
  const isBearer = isSame(digest, bearerDigest)
  if (isOperator) return { status: 'admitted', caller: OPERATOR }
  if (isBearer) return { status: 'admitted', caller: bearer(operator !== null) }
  const key = keyWith(digest.toString('hex'), service)
  if (key !== null) return { status: 'admitted', caller: holderOfKey(key) }
  return unauthorized('auth.invalid_token', 'The bearer token is not valid')
}

/** A look-up by the hash of a secret leaks nothing about the secret through its timing. */
const keyWith = (
  secretHash: string,
  { engine, clock }: Pick<AuthDependencies, 'engine' | 'clock'>,
): AccessKey | null => {
  const key = engine.state.operations.accessKeys.get(secretHash)
  return key === undefined || isExpired(key, isoNow(clock)) ? null : key
}

type Given = { readonly status: 'given'; readonly token: Buffer } | Extract<AuthResult, { status: 'denied' }>

/** Splits the header at the first blank. The scheme may be in any case, and the token is trimmed. */
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
  caller: ANONYMOUS,
  problem: problem(code, detail, { headers: { 'www-authenticate': 'Bearer' } }),
})

interface Digests {
  /** Null while the token is not set. */
  readonly bearer: Buffer | null
  readonly operator: Buffer | null
}

const digestsOf = ({ api: { auth_token, operator_token } }: Configuration): Digests => ({
  bearer: auth_token === '' ? null : digestOf(Buffer.from(auth_token)),
  operator: operator_token === '' ? null : digestOf(Buffer.from(operator_token)),
})

const digestOf = (token: Buffer): Buffer => hash('sha256', token, 'buffer')

const isSame = (digest: Buffer, expected: Buffer | null): boolean =>
  expected !== null && timingSafeEqual(digest, expected)
