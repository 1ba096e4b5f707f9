import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import type { OpenAPIV3_1 } from 'openapi-types'
import { z } from 'zod'

/** Must be there before the routes are. */
export const addOpenApi = async (app: FastifyInstance, version: string): Promise<void> => {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Signal Engine API',
        version,
        description: DESCRIPTION,
        license: { name: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: '`api.auth_token` or `api.operator_token`' },
        },
      },
    },
    transform: createJsonSchemaTransform({ zodToJsonConfig: { override } }),
    transformObject: createJsonSchemaTransformObject({ zodToJsonConfig: { override } }),
  })
}

/** The document as text, without the schemas that nothing refers to. */
export const openApiTextOf = (app: FastifyInstance): string => {
  const document = app.swagger() as OpenAPIV3_1.Document
  const schemas = Object.entries(document.components?.schemas ?? {})
  const text = JSON.stringify(document)
  const used = schemas.filter(([name]) => text.includes(`"#/components/schemas/${name}"`))
  return JSON.stringify({
    ...document,
    components: { ...document.components, schemas: Object.fromEntries(used) },
  })
}

type SchemaContext = Parameters<NonNullable<z.core.ToJSONSchemaParams['override']>>[0]

/** Query values are parsed from text, for which zod leaves out what is said of the outcome. The bounds of doubles tell nobody anything. */
const override = ({ zodSchema, jsonSchema }: SchemaContext): void => {
  const { default: fallback, examples } = z.globalRegistry.get(zodSchema) ?? {}
  if (fallback !== undefined) Object.assign(jsonSchema, { default: fallback })
  if (examples !== undefined) Object.assign(jsonSchema, { examples })
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}

const DESCRIPTION = [
  'An event-sourced trading engine. Every answer carries `X-Request-Id`.',
  'Errors are `application/problem+json` with a stable `code`; clients should rely on it and not on `detail`.',
  'HEAD works where GET does. Both forms of a path, with and without a slash at its end, are the same.',
].join('\n\n')
