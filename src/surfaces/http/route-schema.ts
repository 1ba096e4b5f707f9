import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import { FAULT_TYPES } from '../../core/shared/faults.ts'
import { plainText } from '../../core/shared/text.ts'
import { JSON_TYPE } from './answers.ts'
import { isBare, meaningOf, PROBLEM_CODES, PROBLEM_TYPE, statusOf, type ProblemCode } from './problems.ts'
import type { OtherAnswer, Route } from './route.ts'

export interface DocumentedResponse {
  readonly status: number
  readonly description: string
  /** By media type; empty for an answer without a body. */
  readonly content: Readonly<Record<string, DocumentedContent>>
}

export interface DocumentedContent {
  readonly schema: z.ZodType
  readonly examples: Readonly<Record<string, { readonly value: unknown } | { readonly $ref: string }>>
}

/** What the framework and the documentation are told of a route. */
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
    responsesOf(route).map(({ status, ...said }) => [status, schemaOfResponse(said)]),
  ),
})

/** All that an endpoint can answer, one entry per status. */
export const responsesOf = (route: Route): readonly DocumentedResponse[] => {
  const said = [
    successOf(route),
    ...(route.otherAnswers ?? []).map(otherOf),
    ...problemResponses(problemsOf(route)),
  ]
  const statuses = [...new Set(said.map(({ status }) => status))].sort((one, other) => one - other)
  return statuses.map((status) => {
    const same = said.filter((response) => response.status === status)
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
    ...ALWAYS,
  ]
}

/** Who reads the bytes says in other words what is wrong with them. */
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
  .meta({ id: 'Problem', description: 'Why the request was not done. Some codes add members of their own.' })

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

const otherOf = ({ status, description, content }: OtherAnswer): DocumentedResponse => ({
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

/** Many endpoints answer the same problems: each is shown once, and referred to. */
const examplesOf = (codes: readonly ProblemCode[]): DocumentedContent['examples'] =>
  Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]))

/** The framework's own form; it has no place for examples, which are added to the finished document. */
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
  .meta({ description: 'the caller’s own name for the request; otherwise one is made up' })

const traceId = plainText()
  .optional()
  .meta({ description: 'becomes `trace_id` of the events that the request writes' })

const headersOf = ({ access, headers }: Route): z.ZodType => {
  const common = { 'x-request-id': requestId, ...(access === 'public' ? {} : { 'x-trace-id': traceId }) }
  return headers instanceof z.ZodObject ? headers.extend(common) : z.object(common)
}
