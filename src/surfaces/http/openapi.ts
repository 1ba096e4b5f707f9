import swagger from '@fastify/swagger'
import { fastify, type FastifySchema } from 'fastify'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import type { OpenAPIV3_1 } from 'openapi-types'
import { z } from 'zod'
import { FAULT_TYPES } from '../../core/shared/faults.ts'
import { plainText } from '../../core/shared/text.ts'
import {
  isBare,
  meaningOf,
  PROBLEM_CODES,
  PROBLEM_TYPE,
  problemExample,
  statusOf,
  type ProblemCode,
} from './problems.ts'
import { JSON_TYPE } from './results.ts'
import { actionOf, type OtherResponse, type Route } from './route.ts'

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

/** Adds what the framework cannot express: optional bodies, and examples of responses. */
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

/** For values that are parsed from text zod leaves out defaults and examples. The bounds of doubles carry no information. */
const override = ({ zodSchema, jsonSchema }: SchemaContext): void => {
  const { default: fallback, examples } = z.globalRegistry.get(zodSchema) ?? {}
  if (fallback !== undefined) Object.assign(jsonSchema, { default: fallback })
  if (examples !== undefined) Object.assign(jsonSchema, { examples })
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}

const DESCRIPTION = [
  'An event-sourced trading engine. Every response carries `X-Request-Id`.',
  'Errors are `application/problem+json` with a stable `code`; clients should rely on it and not on `detail`.',
  'HEAD works where GET does. Both forms of a path, with and without a slash at its end, are the same.',
].join('\n\n')

interface DocumentedResponse {
  readonly status: number
  readonly description: string
  /** By media type; empty for a response without a body. */
  readonly content: Readonly<Record<string, DocumentedContent>>
}

interface DocumentedContent {
  readonly schema: z.ZodType
  readonly examples: Readonly<Record<string, { readonly value: unknown } | { readonly $ref: string }>>
}

/** A route as the framework and the documentation need it. */
export const schemaOf = (route: Route): FastifySchema => ({
  operationId: route.operationId,
  summary: route.summary,
  ...descriptionOf(route),
  tags: [route.tag],
  security: route.access === 'public' ? [] : [{ bearer: [] }],
  headers: headersOf(route),
  ...(route.params === undefined ? {} : { params: route.params }),
  ...(route.query === undefined ? {} : { querystring: route.query }),
  ...(route.body === undefined ? {} : { body: route.body }),
  response: Object.fromEntries(
    responsesOf(route).map(({ status, ...response }) => [status, schemaOfResponse(response)]),
  ),
})

/** All responses of an endpoint, one entry per status. */
const responsesOf = (route: Route): readonly DocumentedResponse[] => {
  const all = [
    successOf(route),
    ...(route.otherResponses ?? []).map(otherOf),
    ...problemResponses(problemsOf(route)),
  ]
  const statuses = [...new Set(all.map(({ status }) => status))].sort((one, other) => one - other)
  return statuses.map((status) => {
    const same = all.filter((response) => response.status === status)
    return {
      status,
      description: same.map(({ description }) => description).join('\n\n'),
      content: Object.assign({}, ...same.map(({ content }) => content)) as DocumentedResponse['content'],
    }
  })
}

/** Every code that an endpoint can answer. */
export const problemsOf = (route: Route): readonly ProblemCode[] => {
  const isProtected = route.access !== 'public'
  return [
    ...(isProtected ? (['auth.missing_token', 'auth.invalid_header', 'auth.invalid_token'] as const) : []),
    ...(route.access === 'operator' ? (['auth.forbidden'] as const) : []),
    ...bodyProblemsOf(route),
    ...(isProtected || route.query !== undefined ? (['request.invalid'] as const) : []),
    ...(route.problems ?? []),
    ...(actionOf(route) === 'write' && route.bodyIsRaw !== true ? (['store.busy'] as const) : []),
    ...ALWAYS,
  ]
}

/** A handler that takes the raw bytes reports malformed JSON itself. */
const bodyProblemsOf = ({ body, bodyIsRaw }: Route): readonly ProblemCode[] => {
  if (body === undefined) return []
  return bodyIsRaw === true ? BODY_PROBLEMS : ['request.malformed_json', ...BODY_PROBLEMS]
}

const BODY_PROBLEMS = ['request.too_large', 'request.unsupported_media_type'] as const

const ALWAYS = [
  'request.malformed_http',
  'request.headers_too_large',
  'request.timeout',
  'rate.limited',
  'internal.error',
  'server.shutting_down',
  'server.timeout',
  'store.unavailable',
] as const

const problemSchema = z
  .looseObject({
    status: z.int(),
    title: z.string(),
    code: z.enum(PROBLEM_CODES),
    detail: z.string(),
    request_id: z.string(),
    errors: z
      .array(z.object({ loc: z.array(z.string()), msg: z.string(), type: z.enum(FAULT_TYPES) }))
      .optional()
      .meta({ description: 'all faults of the request; `loc` begins with body, query, path or header' }),
  })
  .meta({ id: 'Problem', description: 'Why the request failed. Some codes add members of their own.' })

const successOf = ({ successStatus = 200, summary, responseType = JSON_TYPE, response, example }: Route) => ({
  status: successStatus,
  description: summary,
  content: {
    [responseType]: {
      schema: response,
      examples: example === undefined ? {} : { answer: { value: example } },
    },
  },
})

const otherOf = ({ status, description, content }: OtherResponse): DocumentedResponse => ({
  status,
  description,
  content:
    content === null
      ? {}
      : { [JSON_TYPE]: { schema: content.schema, examples: { answer: { value: content.example } } } },
})

const problemResponses = (codes: readonly ProblemCode[]): readonly DocumentedResponse[] =>
  [...new Set(codes.map(statusOf))].map((status) => {
    const group = codes.filter((code) => statusOf(code) === status)
    const description = group.map((code) => `\`${code}\`: ${meaningOf(code)}`).join('\n\n')
    return { status, description, content: problemContentOf(group) }
  })

const problemContentOf = (codes: readonly ProblemCode[]): DocumentedResponse['content'] => {
  const bare = codes.filter(isBare)
  const full = codes.filter((code) => !isBare(code))
  return {
    ...(full.length === 0 ? {} : { [PROBLEM_TYPE]: { schema: problemSchema, examples: examplesOf(full) } }),
    ...(bare.length === 0
      ? {}
      : { [JSON_TYPE]: { schema: z.object({ detail: z.string() }), examples: examplesOf(bare) } }),
  }
}

/** Many endpoints share problems: each has one example, and references to it. */
const examplesOf = (codes: readonly ProblemCode[]): DocumentedContent['examples'] =>
  Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]))

/** The framework's form, which has no place for examples: `openApiTextOf` adds them. */
const schemaOfResponse = ({ description, content }: Omit<DocumentedResponse, 'status'>): unknown => {
  const types = Object.entries(content)
  if (types.length === 0) return z.null().meta({ description })
  return { description, content: Object.fromEntries(types.map(([type, { schema }]) => [type, { schema }])) }
}

const descriptionOf = ({ access, description }: Route): { readonly description?: string } => {
  const operator =
    access === 'operator' ? 'Needs the operator token once `api.operator_token` is set.' : undefined
  const lines = [description, operator].filter((line) => line !== undefined)
  return lines.length === 0 ? {} : { description: lines.join('\n\n') }
}

const requestId = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/)
  .optional()
  .meta({ description: 'the caller’s own id of the request; generated if absent' })

const traceId = plainText()
  .optional()
  .meta({ description: 'becomes `trace_id` of the events that the request writes' })

const headersOf = ({ access, headers }: Route): z.ZodType => {
  const common = { 'x-request-id': requestId, ...(access === 'public' ? {} : { 'x-trace-id': traceId }) }
  return headers instanceof z.ZodObject ? headers.extend(common) : z.object(common)
}
