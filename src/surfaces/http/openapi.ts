import swagger from '@fastify/swagger'
import { fastify } from 'fastify'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import type { OpenAPIV3_1 } from 'openapi-types'
import { z } from 'zod'
import { PROBLEM_CODES, problemExample } from './problems.ts'
import type { Route } from './route.ts'
import { responsesOf, schemaOf, type DocumentedResponse } from './route-schema.ts'

/**
 * The document as text: with examples, and without the parts that nothing refers to. A framework of its own makes it,
 * since a running server needs neither the schemas nor the libraries that turn them into a document.
 */
export const openApiTextOf = async (routes: readonly Route[], version: string): Promise<string> => {
  const app = fastify()
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => JSON.stringify)
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Signal Engine API',
        version,
        description: DESCRIPTION,
        license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
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
  for (const route of routes) {
    app.route({
      method: route.method,
      url: route.url,
      exposeHeadRoute: route.streams !== true,
      schema: schemaOf(route),
      handler: () => undefined,
    })
  }
  await app.ready()
  const generated = app.swagger() as OpenAPIV3_1.Document
  const document = { ...generated, paths: completedPaths(generated.paths ?? {}, routes) }
  const text = JSON.stringify(document)
  const usedOf = <Part>(kind: string, parts: readonly (readonly [string, Part])[]): Record<string, Part> =>
    Object.fromEntries(parts.filter(([name]) => text.includes(`"#/components/${kind}/${name}"`)))
  return JSON.stringify({
    ...document,
    components: {
      ...generated.components,
      schemas: usedOf('schemas', Object.entries(generated.components?.schemas ?? {})),
      examples: usedOf(
        'examples',
        PROBLEM_CODES.map((code) => [code, { value: problemExample(code) }] as const),
      ),
    },
  })
}

/** What the framework has no words for: bodies that may be left out, and examples of answers. */
const completedPaths = (
  paths: OpenAPIV3_1.PathsObject,
  routes: readonly Route[],
): OpenAPIV3_1.PathsObject => {
  const routeOf = new Map(routes.map((route) => [route.operationId, route]))
  return mapValues(paths, (methods) =>
    mapValues(methods as Readonly<Record<string, OpenAPIV3_1.OperationObject>>, (operation) => {
      const route = routeOf.get(operation.operationId ?? '')
      return route === undefined ? operation : completed(operation, route)
    }),
  )
}

const completed = (operation: OpenAPIV3_1.OperationObject, route: Route): OpenAPIV3_1.OperationObject => {
  const { requestBody, responses = {} } = operation
  const documented = new Map(responsesOf(route).map((response) => [String(response.status), response]))
  return {
    ...operation,
    ...(requestBody === undefined
      ? {}
      : { requestBody: { ...requestBody, required: route.bodyIsOptional !== true } }),
    responses: mapValues(
      responses as Readonly<Record<string, OpenAPIV3_1.ResponseObject>>,
      (response, status) => withExamples(response, documented.get(status)),
    ),
  }
}

const withExamples = (
  response: OpenAPIV3_1.ResponseObject,
  documented: DocumentedResponse | undefined,
): OpenAPIV3_1.ResponseObject => {
  if (response.content === undefined) return response
  return {
    ...response,
    content: mapValues(response.content, (media, type) => {
      const examples = documented?.content[type]?.examples ?? {}
      return Object.keys(examples).length === 0 ? media : { ...media, examples }
    }),
  }
}

const mapValues = <From, To>(
  object: Readonly<Record<string, From>>,
  change: (value: From, key: string) => To,
): Record<string, To> =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]))

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
