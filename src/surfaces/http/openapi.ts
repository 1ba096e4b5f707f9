import swagger from '@fastify/swagger'
import { fastify, type FastifySchema } from 'fastify'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import type { OpenAPIV3_1 } from 'openapi-types'
import { z } from 'zod'
import { assert } from '../../core/shared/assert.ts'
import { FAULT_TYPES } from '../../core/shared/faults.ts'
import { plainText } from '../../core/shared/text.ts'
import { isBare, meaningOf, PROBLEM_CODES, PROBLEM_TYPE, problemExample, statusOf } from './problems.ts'
import { JSON_TYPE } from './results.ts'
import { isMadeInAName, type Need } from '../caller.ts'
import type { ProblemCode } from '../problem-codes.ts'
import { actionOf, bodyIsOptional, type Route } from './route.ts'

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
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: '`api.auth_token`, `api.operator_token` or an access key',
          },
        },
      },
    },
    transform: createJsonSchemaTransform({ zodToJsonConfig: { override } }),
    transformObject: createJsonSchemaTransformObject({ zodToJsonConfig: { override } }),
  })
  for (const route of routes) {
    const { method, url } = route
    const exposeHeadRoute = route.streams !== true
    app.route({ method, url, exposeHeadRoute, schema: schemaOf(route), handler: () => undefined })
  }
  await app.ready()
  const document = app.swagger() as OpenAPIV3_1.Document
  for (const route of routes) complete(operationOf(document, route), route)
  const text = JSON.stringify(document)
  const usedOf = <Part>(kind: string, parts: readonly (readonly [string, Part])[]): Record<string, Part> =>
    Object.fromEntries(parts.filter(([name]) => text.includes(`"#/components/${kind}/${name}"`)))
  return JSON.stringify({
    ...document,
    components: {
      ...document.components,
      schemas: usedOf('schemas', Object.entries(document.components?.schemas ?? {})),
      examples: usedOf(
        'examples',
        PROBLEM_CODES.map((code) => [code, { value: problemExample(code) }] as const),
      ),
    },
  })
}

interface Operation {
  requestBody?: { required: boolean }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, object>> }>>
}

const operationOf = ({ paths }: OpenAPIV3_1.Document, { method, url }: Route): Operation => {
  const path = url.replaceAll(/:(\w+)/g, '{$1}')
  const operation = (paths?.[path] as Readonly<Record<string, Operation>> | undefined)?.[method.toLowerCase()]
  assert(operation !== undefined, `${method} ${url} must be in the document`)
  return operation
}

/** Adds what the framework cannot express: optional bodies, and examples of responses. */
const complete = ({ requestBody, responses }: Operation, route: Route): void => {
  if (requestBody !== undefined) requestBody.required = !bodyIsOptional(route)
  for (const [status, { content }] of Object.entries(responsesOf(route))) {
    for (const [type, { examples }] of Object.entries(content))
      Object.assign(responses[status]?.content?.[type] ?? {}, { examples })
  }
}

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

const ACCESS: ReadonlyMap<Need, readonly string[]> = new Map([
  [
    'operator',
    ['Needs the operator token once `api.operator_token` is set, or an access key with `operate`.'],
  ],
  ['access', ['Needs the operator token, `api.operator_token`.']],
])

/** A route in the framework's form, which drops the examples of responses: `complete` adds them again. */
const schemaOf = (route: Route): FastifySchema => ({
  operationId: route.operationId,
  summary: route.summary,
  description: [
    ...(route.description === undefined ? [] : [route.description]),
    ...(ACCESS.get(route.needs) ?? []),
  ].join('\n\n'),
  tags: [route.tag],
  security: route.needs === 'public' ? [] : [{ bearer: [] }],
  headers: headersOf(route),
  ...(route.params === undefined ? {} : { params: route.params }),
  ...(route.query === undefined ? {} : { querystring: route.query }),
  ...(route.body === undefined ? {} : { body: route.body }),
  response: Object.fromEntries(
    Object.entries(responsesOf(route)).map(([status, { description, content }]) => [
      status,
      Object.keys(content).length === 0 ? z.null().meta({ description }) : { description, content },
    ]),
  ),
})

interface DocumentedResponse {
  readonly description: string
  /** By media type; empty for a response without a body. */
  readonly content: Readonly<Record<string, { readonly schema: z.ZodType; readonly examples: object }>>
}

/** All responses of an endpoint, by status. */
const responsesOf = (route: Route): Readonly<Record<string, DocumentedResponse>> => {
  const { successStatus = 200, summary, responseType = JSON_TYPE, response, example } = route
  const all: Record<string, DocumentedResponse> = {}
  const add = (status: number, description: string, content: DocumentedResponse['content']): void => {
    const before = all[status]
    all[status] = {
      description: before === undefined ? description : `${before.description}\n\n${description}`,
      content: { ...before?.content, ...content },
    }
  }
  add(successStatus, summary, { [responseType]: { schema: response, examples: answer(example) } })
  for (const { status, description, content } of route.otherResponses ?? []) {
    const documented = content && { schema: content.schema, examples: answer(content.example) }
    add(status, description, documented === null ? {} : { [JSON_TYPE]: documented })
  }
  const codes = problemsOf(route)
  for (const status of new Set(codes.map(statusOf))) {
    const group = codes.filter((code) => statusOf(code) === status)
    const description = group.map((code) => `\`${code}\`: ${meaningOf(code)}`).join('\n\n')
    add(status, description, {
      ...contentOf(
        PROBLEM_TYPE,
        problemSchema,
        group.filter((code) => !isBare(code)),
      ),
      ...contentOf(JSON_TYPE, z.object({ detail: z.string() }), group.filter(isBare)),
    })
  }
  return all
}

const answer = (value: unknown) => (value === undefined ? {} : { answer: { value } })

/** Many endpoints share problems: each has one example, and references to it. */
const contentOf = (type: string, schema: z.ZodType, codes: readonly ProblemCode[]) => {
  const examples = codes.map((code) => [code, { $ref: `#/components/examples/${code}` }] as const)
  return codes.length === 0 ? {} : { [type]: { schema, examples: Object.fromEntries(examples) } }
}

/** Every code that an endpoint can answer. */
export const problemsOf = (route: Route): readonly ProblemCode[] => {
  const { needs, body, bodyIsRaw } = route
  const isProtected = needs !== 'public'
  return [
    ...(isProtected ? (['auth.missing_token', 'auth.invalid_header', 'auth.invalid_token'] as const) : []),
    ...(needs === 'operator' || needs === 'access' ? (['auth.forbidden'] as const) : []),
    ...(isProtected && needs !== 'any' && needs !== 'access' ? (['auth.scope_missing'] as const) : []),
    ...(isMadeInAName(needs) ? (['auth.author_mismatch'] as const) : []),
    // A handler that takes the raw bytes reports malformed JSON itself.
    ...(body === undefined || bodyIsRaw === true ? [] : (['request.malformed_json'] as const)),
    ...(body === undefined ? [] : (['request.too_large', 'request.unsupported_media_type'] as const)),
    ...(isProtected || route.query !== undefined ? (['request.invalid'] as const) : []),
    ...(route.problems ?? []),
    ...(actionOf(route) === 'write' && bodyIsRaw !== true ? (['store.busy'] as const) : []),
    ...ALWAYS,
  ]
}

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

const requestId = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/)
  .optional()
  .meta({ description: 'the caller’s own id of the request; generated if absent' })

const traceId = plainText()
  .optional()
  .meta({ description: 'becomes `trace_id` of the events that the request writes' })

const headersOf = ({ needs, headers }: Route): z.ZodType => {
  const common = { 'x-request-id': requestId, ...(needs === 'public' ? {} : { 'x-trace-id': traceId }) }
  return headers instanceof z.ZodObject ? headers.extend(common) : z.object(common)
}
