import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'

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

/** The page below /docs, served from local files only. It shows the document of /openapi.json. */
export const addDocs = async (app: FastifyInstance, openApiText: () => string): Promise<void> => {
  await app.register(async (scope) => {
    scope.addHook('onSend', (_request, reply, _payload, done) => {
      // Static files set their own.
      reply.header('cache-control', 'no-store')
      done()
    })
    await scope.register(swaggerUi, {
      routePrefix: DOCS_PATH,
      staticCSP: CONTENT_SECURITY_POLICY,
      transformSpecification: () => JSON.parse(openApiText()) as Record<string, unknown>,
      theme: { title: 'Signal Engine API' },
      uiConfig: { deepLinking: true, docExpansion: 'list', persistAuthorization: false },
    })
  })
}
