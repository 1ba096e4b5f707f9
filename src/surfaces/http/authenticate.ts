import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Configuration } from '../../core/config/schema.ts'
import { mayDo, type Caller } from '../caller.ts'
import { problem, type Problem, type ProblemCode } from './problems.ts'
import { needOf, type Route, type Service } from './route.ts'

export type AuthResult =
  | { readonly status: 'admitted'; readonly caller: Caller }
  | { readonly status: 'denied'; readonly problem: Problem }

/**
 * Who sends the request, and whether that is enough for the route; a page of the documentation is no route. Checks
 * against the current configuration, so a changed token works at once.
 */
export const authenticate = (
  { headers: { authorization } }: FastifyRequest,
  route: Route | undefined,
  { configuration, insecureOk }: Pick<Service, 'configuration' | 'insecureOk'>,
): AuthResult => {
  const current = configuration.current()
  const need = route === undefined ? 'public' : needOf(route, current)
  if (need === 'public') return { status: 'admitted', caller: ANONYMOUS }
  const digests = digestsOf(current)
  const known = holderOf(authorization, digests)
  const isOpen = digests.bearer === null && insecureOk
  const visitor: Caller = { kind: 'anonymous', mayOperate: digests.operator === null }
  if (known.status === 'denied')
    return isOpen && mayDo(visitor, need) ? { status: 'admitted', caller: visitor } : known
  return mayDo(known.caller, need) ? known : { status: 'denied', problem: FORBIDDEN }
}

const ANONYMOUS: Caller = { kind: 'anonymous', mayOperate: false }

const FORBIDDEN = problem('auth.forbidden', 'This endpoint needs the operator token (api.operator_token)')

/** Who holds the token that was sent. */
const holderOf = (authorization: string | undefined, { bearer, operator }: Digests): AuthResult => {
  const given = tokenOf(authorization)
  if (given.status === 'denied') return given
  const digest = digestOf(given.token)
  const isOperator = isSame(digest, operator)
  const isBearer = isSame(digest, bearer)
  if (isOperator) return { status: 'admitted', caller: { kind: 'operator', mayOperate: true } }
  if (isBearer) return { status: 'admitted', caller: { kind: 'bearer', mayOperate: operator === null } }
  return unauthorized('auth.invalid_token', 'The bearer token is not valid')
}

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
