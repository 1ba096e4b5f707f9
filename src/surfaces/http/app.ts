import { fastify, type FastifyInstance } from 'fastify'
import { prepareReply } from './gate.ts'
import type { HttpLimits } from './dependencies.ts'
import { givenRequestId } from './request-line.ts'
import { sendProblem } from './send.ts'
import type { Service } from './service.ts'
import { NOTHING_THERE } from './errors.ts'

/** The framework, with everything it would do in its own words switched off. */
export const createApp = (service: Service, limits: HttpLimits): FastifyInstance => {
  const app = fastify({
    logger: false,
    requestTimeout: limits.headersTimeoutMs + limits.bodyTimeoutMs,
    http: {
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: limits.slowCheckMs,
      // Node would answer without any of our headers; the gate looks itself.
      requireHostHeader: false,
    },
    genReqId: (request) => givenRequestId(request) ?? service.clock.newId(),
    // The gate answers late requests; a broken connection is answered by answerConnectionErrors.
    return503OnClosing: false,
    clientErrorHandler: () => undefined,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16_384 },
    // A path that cannot be decoded is a path that does not exist.
    frameworkErrors: (_error, request, reply) => {
      prepareReply(service, request, reply)
      sendProblem(reply, NOTHING_THERE)
    },
    // Handlers look at requests themselves, to name all faults at once, and write their answers themselves. The
    // framework's own compilers are large, and would be loaded for nothing.
    schemaController: { compilersFactory: { buildValidator: unused, buildSerializer: unused } },
  })
  app.removeAllContentTypeParsers()
  return app
}

const unused = (): never => {
  throw new Error('no route has a schema for the framework')
}
