import type { z } from 'zod'
import { faultsOf, type Fault } from '../../core/shared/faults.ts'
import { plainText } from '../../core/shared/text.ts'
import { utf8Text } from './fields.ts'
import { invalidProblem, type Problem } from './problems.ts'
import type { RequestBody } from './request-body.ts'
import type { Parts, Route, WriteEntry } from './route.ts'

/** A request as it came in. */
export interface RawParts {
  readonly params: unknown
  readonly query: unknown
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: RequestBody
  readonly requestId: string
  readonly resource: string
}

export type Validated =
  | { readonly status: 'valid'; readonly parts: Omit<Parts, 'mayOperate'> }
  | { readonly status: 'invalid'; readonly problem: Problem }

/** Looks at the stranger's data once, and names all faults at once. */
export const validate = (route: Route, raw: RawParts): Validated => {
  if (raw.body.status === 'refused') return { status: 'invalid', problem: raw.body.problem }
  const faults: Fault[] = []
  const params = check(route.params, raw.params, 'path', faults)
  const query = check(route.query, raw.query, 'query', faults)
  const headers = check(route.headers, raw.headers, 'header', faults)
  const traceId = route.access === 'public' ? null : traceIdOf(raw.headers[TRACE_HEADER], faults)
  const body = bodyOf(route, raw.body, faults)
  if (faults.length > 0) return { status: 'invalid', problem: invalidProblem(faults) }
  const { requestId, resource } = raw
  const writeEntry = writeEntryOf(resource, requestId)
  return { status: 'valid', parts: { params, query, headers, body, requestId, traceId, writeEntry } }
}

const writeEntryOf = (resource: string, requestId: string): WriteEntry => ({
  kind: 'record-access',
  surface: 'api',
  entry: { resource, action: 'write', outcome: 'allowed', reason: null, request_id: requestId },
})

const TRACE_HEADER = 'x-trace-id'

const traceIdSchema = plainText()

/** Null for an absent header, and for one that is not valid; the latter is a fault. */
const traceIdOf = (header: string | string[] | undefined, faults: Fault[]): string | null => {
  const traceId = typeof header === 'string' ? utf8Text(header) : undefined
  if (traceId === undefined) return null
  const parsed = traceIdSchema.safeParse(traceId)
  if (parsed.success) return parsed.data
  faults.push(...faultsOf(parsed.error, ['header', TRACE_HEADER]))
  return null
}

const check = (
  schema: z.ZodType | undefined,
  value: unknown,
  place: 'path' | 'query' | 'header' | 'body',
  faults: Fault[],
): unknown => {
  if (schema === undefined) return undefined
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  faults.push(...faultsOf(parsed.error, [place], { input: value }))
  return undefined
}

const bodyOf = (route: Route, body: RequestBody, faults: Fault[]): unknown => {
  if (route.body === undefined || body.status === 'refused') return undefined
  if (route.bodyIsRaw === true) return body.status === 'raw' ? body.bytes : new Uint8Array()
  if (body.status !== 'present') {
    if (route.bodyIsOptional !== true)
      faults.push({ loc: ['body'], msg: 'A body is required', type: 'missing' })
    return undefined
  }
  const isObject = typeof body.value === 'object' && body.value !== null && !Array.isArray(body.value)
  if (isObject) return check(route.body, body.value, 'body', faults)
  faults.push({ loc: ['body'], msg: 'The body must be a JSON object', type: 'object_type' })
  return undefined
}
