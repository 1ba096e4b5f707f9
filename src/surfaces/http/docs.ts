import { fastify, type FastifyInstance } from 'fastify'
import type { OpenAPIV3_1 } from 'openapi-types'

export const DOCS_PATH = '/docs'

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // The page sets styles of single elements from its script.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The page below /docs, from files of this installation only. It is loaded when it is first opened. */
export const addDocs = (app: FastifyInstance, openApiText: () => Promise<string>): void => {
  let opened: Promise<FastifyInstance> | null = null
  for (const url of [DOCS_PATH, `${DOCS_PATH}/*`]) {
    app.get(url, async (request, reply) => {
      const docs = await (opened ??= openDocs(openApiText))
      const { statusCode, headers, rawPayload } = await docs.inject({
        method: 'GET',
        url: request.url,
        headers: request.headers as Record<string, string>,
      })
      if (statusCode >= 400) return reply.callNotFound()
      // Serving files sets another one.
      return reply
        .code(statusCode)
        .headers({ ...headers, 'cache-control': 'no-store' })
        .send(rawPayload)
    })
  }
}

/** A server that never listens. It shows the same document as /openapi.json. */
const openDocs = async (openApiText: () => Promise<string>): Promise<FastifyInstance> => {
  const { default: swaggerUi } = await import('@fastify/swagger-ui')
  const document = JSON.parse(await openApiText()) as OpenAPIV3_1.Document
  const app = fastify({ routerOptions: { ignoreTrailingSlash: true } })
  // The page insists on a plugin of this name.
  const swagger = async (scope: FastifyInstance): Promise<void> => {
    scope.decorate('swagger', () => document)
  }
  await app.register(
    Object.assign(swagger, {
      [Symbol.for('skip-override')]: true,
      [Symbol.for('plugin-meta')]: { name: '@fastify/swagger' },
    }),
  )
  await app.register(swaggerUi, {
    routePrefix: DOCS_PATH,
    staticCSP: CONTENT_SECURITY_POLICY,
    transformSpecification: () => document,
    transformSpecificationClone: false,
    theme: { title: 'Signal Engine API' },
    uiConfig: { deepLinking: true, docExpansion: 'list', persistAuthorization: false },
  })
  await app.ready()
  return app
}
