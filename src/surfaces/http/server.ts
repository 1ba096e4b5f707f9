import type { FastifyInstance } from 'fastify'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { recentCheck } from '../../engine/integrity/recent-check.ts'
import { AccessAudit } from './access-audit.ts'
import { createApp } from './app.ts'
import { answerConnectionErrors } from './connection-errors.ts'
import { addDocs } from './docs.ts'
import { addErrorAnswers } from './error-answers.ts'
import { addGate, addTurns } from './gate.ts'
import { bodyParser, handlerOf } from './handle.ts'
import { HTTP_LIMITS, type HttpDependencies, type HttpLimits } from './dependencies.ts'
import { createMetrics } from './metrics.ts'
import { API_PREFIX, type Route } from './route.ts'
import { ROUTES } from './routes/all.ts'
import type { Service } from './service.ts'
import { StreamHub } from './stream/hub.ts'
import type { StreamLimits } from './stream/limits.ts'
import { Turns } from './turns.ts'
import { Verification } from './verification.ts'

export interface HttpServer {
  /** Resolves once requests are taken, with where. Port 0 takes any free one. */
  listen(address: { readonly host: string; readonly port: number }): Promise<Listening>
  /** Takes no more requests, waits for those under way, and then cuts what is left. */
  close(): Promise<void>
}

export interface Listening {
  readonly port: number
  /** With the path prefix. */
  readonly baseUrl: string
}

export interface HttpServerOptions {
  readonly routes?: readonly Route[]
  readonly limits?: Partial<HttpLimits>
  readonly streamLimits?: Partial<StreamLimits>
  readonly checkResponses?: boolean
  /** The OpenAPI document that the build made. Without it the server makes it when it is asked for. */
  readonly openApiFile?: URL
}

export const createHttpServer = async (
  house: HttpDependencies,
  {
    routes = ROUTES,
    limits: given = {},
    streamLimits = {},
    checkResponses = false,
    openApiFile,
  }: HttpServerOptions = {},
): Promise<HttpServer> => {
  const limits = { ...HTTP_LIMITS, ...given }
  let isClosing = false
  const service = serviceOf(house, new StreamHub(house, streamLimits), () =>
    openApiFile !== undefined && existsSync(openApiFile)
      ? readFile(openApiFile, 'utf8')
      : import('./openapi.ts').then(({ openApiTextOf }) => openApiTextOf(routes, house.version)),
  )
  const app = createApp(service, limits)
  const audit = new AccessAudit(house.engine, house.logger, limits.handlerTimeoutMs)
  answerConnectionErrors(app.server, () => house.clock.newId())
  const turns = new Turns(limits.turnMs)
  addTurns(app, turns)
  addGate({ app, service, audit, isClosing: () => isClosing, bodyTimeoutMs: limits.bodyTimeoutMs })
  addErrorAnswers(app, service)
  addMeasuring(app, service)
  app.addContentTypeParser('*', bodyParser(limits))
  const { handlerTimeoutMs } = limits
  for (const route of routes) {
    app.route({
      method: route.method,
      url: route.url,
      exposeHeadRoute: route.streams !== true,
      config: { endpoint: route },
      handler: handlerOf(route, { service, audit, turns, handlerTimeoutMs, checkResponses }),
    })
  }
  addDocs(app, service.openApiText)
  return {
    listen: async ({ host, port }) => {
      await app.ready()
      await app.listen({ host, port })
      return listeningAt(app.server.address() as AddressInfo)
    },
    close: async () => {
      isClosing = true
      service.streams.close()
      // A connection that falls idle from now on would be kept open for its next request.
      const reap = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS)
      const force = setTimeout(() => app.server.closeAllConnections(), limits.closeTimeoutMs)
      try {
        await app.close()
      } finally {
        clearInterval(reap)
        clearTimeout(force)
      }
    },
  }
}

const IDLE_CHECK_MS = 20

const serviceOf = (
  house: HttpDependencies,
  streams: StreamHub,
  documentText: () => Promise<string>,
): Service => {
  const verification = new Verification(house.integrity, house.chainOk)
  let openApiText: Promise<string> | null = null
  return {
    ...house,
    verification,
    recentChainOk: recentCheck((request) => verification.verify(request), house.clock),
    streams,
    metrics: createMetrics(house, verification, streams),
    openApiText: () => (openApiText ??= documentText()),
  }
}

const addMeasuring = (app: FastifyInstance, { metrics, logger }: Service): void => {
  app.addHook('onResponse', (request, reply, done) => {
    const { url: route = 'unmatched', config } = request.routeOptions
    const { method } = request
    const { statusCode: status, elapsedTime: durationMs } = reply
    // A stream was counted when it began; how long somebody listened says nothing about us.
    if (config.endpoint?.streams !== true || status !== 200)
      metrics.observe({ method, route, status, durationMs })
    logger.debug('answered', { request_id: request.id, method, route, status, duration_ms: durationMs })
    done()
  })
}

const listeningAt = ({ address, family, port }: AddressInfo): Listening => {
  const host = family === 'IPv6' ? `[${address}]` : address
  return { port, baseUrl: `http://${host}:${port}${API_PREFIX}` }
}
