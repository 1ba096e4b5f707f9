import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fastify, type FastifyInstance } from 'fastify'
import { recentCheck } from '../../engine/integrity/recent-check.ts'
import { cutUnread, TAKE_MS_MAX } from '../cut-unread.ts'
import { BACKLOG, shutdownOf, urlOf, type ShutdownLimits } from '../shutdown.ts'
import { AccessAudit } from './access-audit.ts'
import { answerConnectionErrors } from './connection-errors.ts'
import { steadyNowOf, type HttpDependencies } from './dependencies.ts'
import { addDocs } from './docs.ts'
import { addErrorHandlers, NOT_FOUND } from './errors.ts'
import { addGate, addTurns, givenRequestId, prepareReply } from './gate.ts'
import { bodyParser, handlerOf } from './handle.ts'
import { createMetrics } from './metrics.ts'
import { sendProblem } from './results.ts'
import { API_PREFIX, type Route, type Service } from './route.ts'
import { ROUTES } from './routes/all.ts'
import { Readiness, tradeReadiness } from './readiness.ts'
import { ProgressStreams, RunStreams } from './stream/progress.ts'
import { StreamHub, type StreamLimits } from './stream/hub.ts'
import { Turns } from './turns.ts'
import { Verification } from './verification.ts'

export interface HttpServer {
  /** Resolves once requests are accepted. Port 0 takes any free port. */
  listen(address: { readonly host: string; readonly port: number }): Promise<Listening>
  /** Resolves once trades can be decided, or the server drains. */
  ready(): Promise<void>
  /** Not ready from now on, but still answering; resolves when a load balancer has had the time to notice. */
  drain(): Promise<void>
  /** Accepts no more requests, waits for those under way, then cuts the remaining connections. */
  close(): Promise<void>
}

/** How often a start that waits for prices looks for them. */
const READY_CHECK_MS = 100

export interface Listening {
  readonly port: number
  /** With the path prefix. */
  readonly baseUrl: string
}

export interface HttpLimits extends ShutdownLimits {
  readonly headersTimeoutMs: number
  readonly bodyTimeoutMs: number
  readonly handlerTimeoutMs: number
  /** A client that has not taken its whole response by then is cut. */
  readonly takeTimeoutMs: number
  readonly bodyBytesMax: number
  /** How often slow connections are checked. */
  readonly slowCheckMs: number
  /** How long requests are taken in before the event loop runs. */
  readonly turnMs: number
}

const HTTP_LIMITS: HttpLimits = {
  headersTimeoutMs: 10_000,
  bodyTimeoutMs: 30_000,
  handlerTimeoutMs: 30_000,
  takeTimeoutMs: TAKE_MS_MAX,
  closeTimeoutMs: 10_000,
  restTimeoutMs: 1000,
  bodyBytesMax: 1024 * 1024,
  slowCheckMs: 1000,
  turnMs: 1,
}

export interface HttpServerOptions {
  readonly routes?: readonly Route[]
  readonly limits?: Partial<HttpLimits>
  readonly streamLimits?: Partial<StreamLimits>
  readonly checkResponses?: boolean
  /** Without the pages that document the API. */
  readonly docs?: boolean
  /** The OpenAPI document that the build made. Without it the server makes the document on the first request. */
  readonly openApiFile?: URL
}

export const createHttpServer = async (
  dependencies: HttpDependencies,
  {
    routes = ROUTES,
    limits: given = {},
    streamLimits = {},
    checkResponses = false,
    docs = true,
    openApiFile,
  }: HttpServerOptions = {},
): Promise<HttpServer> => {
  const limits = { ...HTTP_LIMITS, ...given }
  let isClosing = false
  const turns = new Turns(limits.turnMs)
  const streams = new StreamHub({ ...dependencies, requestsWait: () => turns.areWaiting }, streamLimits)
  const service = serviceOf(dependencies, streams, () =>
    openApiFile !== undefined && existsSync(openApiFile)
      ? readFile(openApiFile, 'utf8')
      : import('./openapi.ts').then(({ openApiTextOf }) => openApiTextOf(routes, dependencies.version)),
  )
  const app = createApp(service, limits)
  const audit = new AccessAudit(dependencies.engine, dependencies.logger, limits.handlerTimeoutMs)
  answerConnectionErrors(app.server, () => dependencies.clock.newId())
  const shutdown = shutdownOf(app.server, limits)
  addTurns(app, turns)
  addGate({ app, service, audit, isClosing: () => isClosing, bodyTimeoutMs: limits.bodyTimeoutMs })
  addErrorHandlers(app, dependencies.logger)
  cutStuckClients(app, limits.takeTimeoutMs)
  addMeasuring(app, service)
  app.addContentTypeParser('*', bodyParser(limits, turns))
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
  if (docs) addDocs(app, service.openApiText)
  return {
    listen: async ({ host, port }) => {
      await app.ready()
      // The framework would open a second server for the other address of this name, and not wait for it at the end.
      await app.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port, backlog: BACKLOG })
      const { port: taken, url } = urlOf(app.server)
      return { port: taken, baseUrl: url + API_PREFIX }
    },
    ready: async () => {
      for (;;) {
        if (service.readiness.isDraining || isClosing) return
        if ((await tradeReadiness(service, service.readiness)).reasons.length === 0) return
        await sleep(READY_CHECK_MS, undefined, { ref: false })
      }
    },
    drain: () => service.readiness.drain(dependencies.configuration.current().api.drain_seconds * 1000),
    close: async () => {
      isClosing = true
      service.streams.close()
      service.progressStreams.close()
      service.runStreams.close()
      await shutdown(() => app.close())
    },
  }
}

/** The framework without its own validation, serialization and error responses. */
const createApp = (service: Service, limits: HttpLimits): FastifyInstance => {
  const app = fastify({
    logger: false,
    requestTimeout: limits.headersTimeoutMs + limits.bodyTimeoutMs,
    http: {
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: limits.slowCheckMs,
      // Node would answer without any of our headers; the gate checks it.
      requireHostHeader: false,
    },
    genReqId: (request) => givenRequestId(request) ?? service.clock.newId(),
    // The gate answers late requests, answerConnectionErrors broken connections.
    return503OnClosing: false,
    clientErrorHandler: () => undefined,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16_384 },
    // A path that cannot be decoded does not exist.
    frameworkErrors: (_error, request, reply) => {
      prepareReply(service, request, reply)
      sendProblem(reply, NOT_FOUND)
    },
    // `handle` validates requests itself, to report all faults at once, and writes the response itself. The
    // framework's own compilers are large and would be loaded for nothing.
    schemaController: { compilersFactory: { buildValidator: unused, buildSerializer: unused } },
  })
  app.removeAllContentTypeParsers()
  return app
}

const unused = (): never => {
  throw new Error('no route has a schema for the framework')
}

const serviceOf = (
  dependencies: HttpDependencies,
  streams: StreamHub,
  documentText: () => Promise<string>,
): Service => {
  const verification = new Verification(dependencies.integrity, dependencies.chainOk, () =>
    dependencies.clock.newId(),
  )
  let openApiText: Promise<string> | null = null
  return {
    ...dependencies,
    verification,
    readiness: new Readiness({
      log: dependencies.engine.log,
      isLost: () => dependencies.engine.lost !== null,
      isStarting: dependencies.isStarting,
    }),
    progressStreams: new ProgressStreams(verification),
    runStreams: new RunStreams(dependencies.backtests),
    recentChainOk: recentCheck(({ n }) => verification.verifyNewest(n), {
      now: () => steadyNowOf(dependencies),
    }),
    streams,
    metrics: createMetrics(dependencies, verification, streams),
    openApiText: () => (openApiText ??= documentText()),
  }
}

/** Streams look after their own clients. */
const cutStuckClients = (app: FastifyInstance, takeTimeoutMs: number): void => {
  app.addHook('onSend', (_request, { raw }, _payload, done) => {
    cutUnread(raw, takeTimeoutMs)
    done()
  })
}

const addMeasuring = (app: FastifyInstance, { metrics, logger }: Service): void => {
  app.addHook('onResponse', (request, reply, done) => {
    const { url: route = 'unmatched', config } = request.routeOptions
    const { method } = request
    const { statusCode: status, elapsedTime: durationMs } = reply
    // A stream is counted when it begins; how long it stays open says nothing about the service.
    if (config.endpoint?.streams !== true || status !== 200)
      metrics.observe({ method, route, status, durationMs })
    logger.debug('answered', { request_id: request.id, method, route, status, duration_ms: durationMs })
    done()
  })
}
