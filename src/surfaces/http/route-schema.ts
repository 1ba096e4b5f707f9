import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import { FAULT_TYPES } from '../../core/vocabulary/fault-types.ts'
import { plainText } from '../../core/vocabulary/text.ts'
import { JSON_TYPE } from './answers.ts'
import { isBare, meaningOf, PROBLEM_CODES, PROBLEM_TYPE, statusOf, type ProblemCode } from './problems.ts'
import type { Route } from './route.ts'

/** What the framework and the documentation are told of a route. */
export const schemaOf = (route: Route): FastifySchema => {
  const status = route.successStatus ?? 200
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...descriptionOf(route),
    tags: [route.tag],
    security: route.access === 'public' ? [] : [{ bearer: [] }],
    headers: headersOf(route),
    ...(route.params === undefined ? {} : { params: route.params }),
    ...(route.query === undefined ? {} : { querystring: route.query }),
    ...(route.body === undefined ? {} : { body: route.body }),
    response: {
      [status]: {
        description: route.summary,
        content: { [route.responseType ?? JSON_TYPE]: { schema: route.response } },
      },
      ...problemResponses(problemsOf(route)),
    },
  }
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

const BODY_PROBLEMS = ['request.timeout', 'request.too_large', 'request.unsupported_media_type'] as const

const ALWAYS = [
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

const problemResponses = (codes: readonly ProblemCode[]): Record<string, unknown> => {
  const statuses = [...new Set(codes.map(statusOf))]
  return Object.fromEntries(
    statuses.map((status) => {
      const group = codes.filter((code) => statusOf(code) === status)
      const description = group.map((code) => `\`${code}\`: ${meaningOf(code)}`).join('\n\n')
      return [status, { description, content: contentOf(group) }]
    }),
  )
}

const contentOf = (codes: readonly ProblemCode[]): Record<string, unknown> => ({
  ...(codes.every(isBare) ? {} : { [PROBLEM_TYPE]: { schema: problemSchema } }),
  ...(codes.some(isBare) ? { [JSON_TYPE]: { schema: z.object({ detail: z.string() }) } } : {}),
})

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
