import { z } from 'zod'
import { okJsonText } from '../results.ts'
import { defineRoute } from '../route.ts'

export const openApiRoutes = [
  defineRoute({
    method: 'GET',
    path: '/openapi.json',
    atRoot: true,
    access: 'public',
    operationId: 'getOpenApi',
    tag: 'Service',
    summary: 'This documentation as OpenAPI 3.1',
    response: z.looseObject({ openapi: z.string() }),
    example: { openapi: '3.1.0', info: { title: 'Signal Engine API', version: '1.0.0' }, paths: {} },
    handler: async (_input, { openApiText }) => okJsonText(await openApiText()),
  }),
]
