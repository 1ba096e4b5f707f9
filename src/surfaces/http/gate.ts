import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AccessAudit } from './access-audit.ts'
import { corsHeaders, isForeignOrigin, ORIGIN_DENIED } from './cors.ts'
import { DOCS_PATH } from './docs.ts'
import { admit } from './authenticate.ts'
import { problem, statusOf, type Problem } from './problems.ts'
import { RateLimit } from './rate-limit.ts'
import { discardBody } from './request-body.ts'
import { pathOf, resourceOf } from './request-line.ts'
import { accessOf, actionOf, type Route } from './route.ts'
import { sendProblem } from './send.ts'
import type { Service } from './service.ts'
import { NOTHING_THERE, SHUTTING_DOWN } from './errors.ts'
import type { Turns } from './turns.ts'
import { methodsAt, unknownRoute } from './unknown-route.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Our own endpoints have one; the pages of the documentation do not. */
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

/** Headers that every answer carries, whatever becomes of the request. */
export const prepareReply = (service: Service, request: FastifyRequest, reply: FastifyReply): void => {
  reply
    .header('x-request-id', request.id)
    .header('x-content-type-options', 'nosniff')
    .header('cache-control', 'no-store')
    .headers(corsHeaders(service.configuration.current().api.cors_origins, request.headers.origin))
}

/** Before anything is looked at. What is urgent never waits for those who only came earlier. */
export const addTurns = (app: FastifyInstance, turns: Turns): void => {
  app.addHook('onRequest', (request, _reply, done) => {
    // True, or told by what is not read yet: then the handler waits.
    if (request.routeOptions.config.endpoint?.isUrgent !== undefined) return done()
    return takeTurn(turns, request, done)
  })
}

export const takeTurn = (turns: Turns, { raw }: FastifyRequest, begin: () => void): void =>
  turns.take(() => {
    // Nobody is left who could hear an answer.
    if (!raw.socket.destroyed) begin()
  })

/** Everything that is decided before a body is read: route and method, token, rate. In this order. */
export const addGate = ({ app, service, audit, isClosing, bodyTimeoutMs }: GateDependencies): void => {
  const rateLimit = new RateLimit()
  const refuse = async (reply: FastifyReply, refusal: Problem): Promise<FastifyReply> => {
    if (!reply.raw.shouldKeepAlive) await discardBody(reply.request.raw, bodyTimeoutMs)
    return sendProblem(reply, refusal)
  }
  app.addHook('onRequest', async (request, reply) => {
    prepareReply(service, request, reply)
    if (isClosing()) return refuse(reply, SHUTTING_DOWN)
    if (lacksHost(request)) return refuse(reply, NO_HOST)
    if (request.is404 || isStrayHead(app, request)) {
      const unknown = unknownRoute(app, service, request)
      return unknown.status === 'preflight'
        ? reply.code(204).headers(unknown.headers).send()
        : refuse(reply, unknown.problem)
    }
    const { config, url = '' } = request.routeOptions
    const { endpoint } = config
    if (endpoint === undefined && !url.startsWith(DOCS_PATH)) return refuse(reply, NOTHING_THERE)
    const refusal = refusalOf(endpoint, service, request, rateLimit)
    if (refusal !== null) {
      if (endpoint !== undefined) await recordDenial(refusal, endpoint, { service, audit }, request)
      return refuse(reply, refusal)
    }
    // An ignored body has no say, not even with its type; and an empty type is none.
    if (endpoint?.body === undefined || request.headers['content-type'] === '') {
      delete request.headers['content-type']
    }
  })
}

const isStrayHead = (app: FastifyInstance, { method, url }: FastifyRequest): boolean =>
  method === 'HEAD' && !methodsAt(app, pathOf(url)).includes('HEAD')

const NO_HOST = problem('request.malformed_http', 'The Host header is missing', {
  headers: { connection: 'close' },
})

const lacksHost = ({ raw }: FastifyRequest): boolean =>
  raw.httpVersion === '1.1' && (raw.headers.host ?? '') === ''

/** What is no endpoint of ours is a page of the documentation, and public. */
const refusalOf = (
  endpoint: Route | undefined,
  service: Service,
  request: FastifyRequest,
  rateLimit: RateLimit,
): Problem | null => {
  const configuration = service.configuration.current()
  const admission = admit({
    access: endpoint === undefined ? 'public' : accessOf(endpoint, configuration),
    authorization: request.headers.authorization,
    configuration,
    insecureOk: service.insecureOk,
  })
  if (admission.status === 'denied') return admission.problem
  if (endpoint?.refusesForeignOrigins === true && isForeignOrigin(request.headers, configuration.api)) {
    return ORIGIN_DENIED
  }
  const perMinuteMax = configuration.api.rate_limit_per_minute
  if (perMinuteMax === 0) return null
  const caller = admission.caller === 'anonymous' ? `address ${request.ip}` : `token ${admission.caller}`
  const passage = rateLimit.take(caller, perMinuteMax, service.clock.now())
  return passage.status === 'free' ? null : rateLimited(perMinuteMax, passage.retryAfterSeconds)
}

const rateLimited = (perMinuteMax: number, seconds: number): Problem =>
  problem('rate.limited', `More than ${perMinuteMax} requests in a minute; wait ${seconds} s`, {
    extras: { retry_after: seconds },
    headers: { 'retry-after': String(seconds) },
  })

/** Denied access is recorded; a client that is only too fast is not. */
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
  switch (statusOf(refusal.code)) {
    case 401: {
      const route = `${endpoint.method} ${endpoint.url}`
      return audit.recordStranger(entry, { address: request.ip, route, nowMs: service.clock.now() })
    }
    case 403:
      // The audit tells of callers that lack a right; a page of another host says nothing about its visitor.
      return refusal.code === 'auth.forbidden' ? audit.record(entry, null) : undefined
  }
}
