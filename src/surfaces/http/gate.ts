import type { IncomingMessage } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AccessAudit } from './access-audit.ts'
import { authenticate, awaitNewestKeys } from './authenticate.ts'
import { corsHeaders, isForeignOrigin, ORIGIN_DENIED, preflight } from './cors.ts'
import { NOT_FOUND, SHUTTING_DOWN } from './errors.ts'
import { steadyNowOf } from './dependencies.ts'
import { DOCS_PATH } from './docs.ts'
import { RESOURCE_LENGTH_MAX } from '../../core/operations/decide.ts'
import { keyNameOf, type Caller } from '../caller.ts'
import { isDenialStored } from '../denials.ts'
import { countHosts, isOwnHost, isSentByForeignPage } from '../own-host.ts'
import { addressOf, RateLimit } from '../rate-limit.ts'
import { problem, statusOf, type Problem } from './problems.ts'
import { discardBody } from './request-body.ts'
import { sendProblem } from './results.ts'
import { actionOf, API_PREFIX, needOf, type Route, type Service } from './route.ts'
import type { Turns } from './turns.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the gate, before any other part of the request is read. */
    caller: Caller
    /** Set if the caller is over its rate, and the body decides whether the route refuses it. */
    overRate: Problem | null
  }
  interface FastifyContextConfig {
    /** Set for our own endpoints, not for the pages of the documentation. */
    readonly endpoint?: Route
  }
}

export interface GateDependencies {
  readonly app: FastifyInstance
  readonly service: Service
  readonly audit: AccessAudit
  readonly isClosing: () => boolean
  readonly bodyTimeoutMs: number
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/

/** The caller's own request id, if it is valid. */
export const givenRequestId = ({ headers }: IncomingMessage): string | null => {
  const given = headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : null
}

/**
 * Name of the requested resource in the audit: the path without prefix, query and trailing slash, cut to the length that
 * the audit keeps. Any caller can cause an entry, and the command of the entry is stored, too.
 */
export const resourceOf = (url: string): string => {
  const path = pathOf(url).replace(/\/+$/, '')
  const isBelowPrefix = path.startsWith(`${API_PREFIX}/`)
  return (isBelowPrefix ? path.slice(API_PREFIX.length) : path || '/').slice(0, RESOURCE_LENGTH_MAX)
}

/** The path alone, without the query or the host of an absolute address. */
const pathOf = (url: string): string => {
  const path = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
  const end = path.search(/[?#]/)
  return end === -1 ? path : path.slice(0, end)
}

/** Headers that every response carries. */
export const prepareReply = (service: Service, request: FastifyRequest, reply: FastifyReply): void => {
  reply
    .header('x-request-id', request.id)
    .header('x-content-type-options', 'nosniff')
    .header('cache-control', 'no-store')
    .headers(corsHeaders(service.configuration.current().api.cors_origins, request.headers.origin))
  // The next request of this client goes to another process.
  if (service.readiness.isDraining) reply.header('connection', 'close')
}

/** Queues requests before all other hooks. Urgent requests do not wait behind earlier ones. */
export const addTurns = (app: FastifyInstance, turns: Turns): void => {
  app.addHook('onRequest', (request, _reply, done) => {
    // If the urgency depends on the body, the handler queues the request itself.
    if (request.routeOptions.config.endpoint?.isUrgent !== undefined) return done()
    return takeTurn(turns, request, done)
  })
}

export const takeTurn = (turns: Turns, { raw }: FastifyRequest, begin: () => void): void =>
  turns.take(() => {
    // A client that disconnected meanwhile gets no response.
    if (!raw.socket.destroyed) begin()
  })

/** Checks that run before a body is read, in this order: route and method, token, rate. */
export const addGate = ({ app, service, audit, isClosing, bodyTimeoutMs }: GateDependencies): void => {
  const rateLimit = new RateLimit()
  const refuse = async (reply: FastifyReply, refusal: Problem): Promise<FastifyReply> => {
    if (!reply.raw.shouldKeepAlive) await discardBody(reply.request.raw, bodyTimeoutMs)
    return sendProblem(reply, refusal)
  }
  app.addHook('onRequest', async (request, reply) => {
    prepareReply(service, request, reply)
    if (isClosing()) return refuse(reply, SHUTTING_DOWN)
    const hostRefusal = hostRefusalOf(request, service)
    if (hostRefusal !== null) return refuse(reply, hostRefusal)
    if (request.is404 || isStrayHead(app, request)) {
      // No route has this path and method: 404, 405 or the preflight of a browser.
      const allowed = methodsAt(app, pathOf(request.url))
      if (allowed.length === 0) return refuse(reply, NOT_FOUND)
      const asked = preflight(service.configuration.current().api.cors_origins, request)
      if (asked === null) return refuse(reply, methodNotAllowed(allowed.join(', ')))
      return asked === 'denied' ? refuse(reply, ORIGIN_DENIED) : reply.code(204).headers(asked).send()
    }
    const { config, url = '' } = request.routeOptions
    const { endpoint } = config
    if (endpoint === undefined && !url.startsWith(DOCS_PATH)) return refuse(reply, NOT_FOUND)
    // Public endpoints are answered whatever the state of the store.
    if (isProtected(endpoint, service)) await awaitNewestKeys(request, service)
    const refusal = refusalOf(endpoint, service, request, rateLimit)
    if (refusal !== null) {
      if (endpoint !== undefined) await recordDenial(refusal, endpoint, { service, audit }, request)
      return refuse(reply, refusal)
    }
    // The type of an ignored body does not matter, and an empty type counts as none.
    if (endpoint?.body === undefined || request.headers['content-type'] === '') {
      delete request.headers['content-type']
    }
  })
}

const isProtected = (endpoint: Route | undefined, { configuration }: Service): boolean =>
  endpoint !== undefined && needOf(endpoint, configuration.current()) !== 'public'

const CLOSE = { headers: { connection: 'close' } }

const NO_HOST = problem('request.malformed_http', 'The Host header is missing', CLOSE)

const TWO_HOSTS = problem('request.malformed_http', 'There is more than one Host header', CLOSE)

const HOST_DENIED = problem(
  'request.host_denied',
  'Without a token the Host header must be an address, localhost or the configured host',
)

/** Checks every route. Where no token is required, host and origin keep foreign web pages out. */
const hostRefusalOf = (
  { raw }: FastifyRequest,
  { configuration, insecureOk }: Pick<Service, 'configuration' | 'insecureOk'>,
): Problem | null => {
  const { host = '' } = raw.headers
  if (raw.httpVersion === '1.1' && host === '') return NO_HOST
  if (countHosts(raw) > 1) return TWO_HOSTS
  const { api } = configuration.current()
  if (!insecureOk || api.auth_token !== '') return null
  if (!isOwnHost(host, api.host, api.cors_origins)) return HOST_DENIED
  if (isForeignOrigin(raw.headers, api)) return ORIGIN_DENIED
  const isListed = raw.headers.origin !== undefined && api.cors_origins.includes(raw.headers.origin)
  return isSentByForeignPage(raw) && !isListed ? ORIGIN_DENIED : null
}

const methodNotAllowed = (allow: string): Problem =>
  problem('route.method_not_allowed', `This path answers ${allow}`, { headers: { allow } })

const isStrayHead = (app: FastifyInstance, { method, url }: FastifyRequest): boolean =>
  method === 'HEAD' && !methodsAt(app, pathOf(url)).includes('HEAD')

const methodsAt = (app: FastifyInstance, path: string): readonly string[] =>
  METHODS.filter((method) => {
    const found = app.findRoute({ method, url: path })
    if (found === null || method !== 'HEAD') return found !== null
    // If GET has a route of its own without HEAD, a wider pattern that also matches does not count.
    const get = app.findRoute({ method: 'GET', url: path })
    return get !== null && isDeepStrictEqual(Object.keys(get.params), Object.keys(found.params))
  })

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'] as const

/** Identifies the caller. Null if the request may continue. */
const refusalOf = (
  endpoint: Route | undefined,
  service: Service,
  request: FastifyRequest,
  rateLimit: RateLimit,
): Problem | null => {
  const auth = authenticate(request, endpoint, service)
  const { caller } = auth
  request.caller = caller
  request.overRate = null
  if (auth.status === 'denied') {
    // An authenticated caller without the right is counted too, because denials are stored.
    const isKnown = statusOf(auth.problem.code) !== 401
    return (isKnown ? rateProblem(request, service, rateLimit) : null) ?? auth.problem
  }
  const { api } = service.configuration.current()
  if (endpoint?.refusesForeignOrigins === true && isForeignOrigin(request.headers, api)) return ORIGIN_DENIED
  const limited = rateProblem(request, service, rateLimit)
  // Requests that reduce risk are counted, but never refused for their rate.
  if (limited === null || endpoint?.reducesRisk === true) return null
  if (endpoint?.reducesRisk === undefined) return limited
  request.overRate = limited
  return null
}

/** Counts the request. Null if the caller is within its rate. */
const rateProblem = (request: FastifyRequest, service: Service, rateLimit: RateLimit): Problem | null => {
  const perMinuteMax = service.configuration.current().api.rate_limit_per_minute
  if (perMinuteMax === 0) return null
  const seconds = rateLimit.take(bucketOf(request), perMinuteMax, steadyNowOf(service))
  if (seconds === null) return null
  return problem('rate.limited', `More than ${perMinuteMax} requests in a minute; wait ${seconds} s`, {
    extras: { retry_after: seconds },
    headers: { 'retry-after': String(seconds) },
  })
}

const bucketOf = ({ caller: { kind, key }, ip }: FastifyRequest): string => {
  if (kind === 'anonymous') return `address ${addressOf(ip)}`
  return key === null ? `token ${kind}` : `key ${key.name}`
}

/** Records denied access. Exceeding the rate is not recorded. */
const recordDenial = async (
  refusal: Problem,
  endpoint: Route,
  { service, audit }: Pick<GateDependencies, 'service' | 'audit'>,
  request: FastifyRequest,
): Promise<void> => {
  const entry = {
    resource: resourceOf(request.url),
    action: actionOf(endpoint),
    outcome: 'denied',
    reason: refusal.code,
    request_id: request.id,
  } as const
  if (statusOf(refusal.code) === 401) {
    const route = `${endpoint.method} ${endpoint.url}`
    const from = { address: addressOf(request.ip), route, nowMs: steadyNowOf(service) }
    return audit.recordUnauthenticated(entry, from)
  }
  // The request of a foreign web page shows nothing about the rights of its visitor.
  if (refusal.code.startsWith('auth.') && isDenialStored(service.engine, request.caller))
    await audit.record({ ...entry, ...keyNameOf(request.caller) }, null)
}
