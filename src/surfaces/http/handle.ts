import { isDeepStrictEqual } from 'node:util'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { AccessEntry } from '../../core/operations/decide.ts'
import { faultsOf, type Fault } from '../../core/shared/faults.ts'
import { plainText } from '../../core/shared/text.ts'
import { withLogChecked } from '../../engine/queries/trading-records.ts'
import { isMadeInAName, keyNameOf, maySpeakFor } from '../caller.ts'
import { isDenialStored } from '../denials.ts'
import { connectionEnd } from '../service-proof.ts'
import type { AccessAudit } from './access-audit.ts'
import { TOO_SLOW } from './errors.ts'
import { utf8Text } from './fields.ts'
import { resourceOf, takeTurn } from './gate.ts'
import { AUTHOR_MISMATCH, invalidProblem, statusOf, type Problem } from './problems.ts'
import { Lane } from './lane.ts'
import {
  ClientGoneError,
  readBody,
  SHORT_BYTES_MAX,
  type BodyLimits,
  type RequestBody,
} from './request-body.ts'
import {
  JSON_TYPE,
  ok,
  refused,
  refusedWith,
  sendProblem,
  sendSuccess,
  type RouteResult,
  type Success,
} from './results.ts'
import {
  actionOf,
  bodyIsOptional,
  needOf,
  type Execute,
  type RequestInput,
  type Route,
  type Service,
} from './route.ts'
import { openStream } from './stream/connection.ts'
import { withinTime } from './time-limit.ts'
import type { Turns } from './turns.ts'

export interface HandlerDependencies {
  readonly service: Service
  readonly audit: AccessAudit
  readonly turns: Turns
  readonly handlerTimeoutMs: number
  /** Checks every response against the schema of the route. For tests: it costs a parse per response. */
  readonly checkResponses: boolean
}

const ABSENT: RequestBody = { status: 'absent' }

/**
 * The body in the form that `validate` expects. The body of a route that takes none is not read. Bodies that arrive
 * together are parsed in turns, long ones one after the other, and what is urgent does not wait behind them: it is short.
 */
export const bodyParser = (limits: BodyLimits, turns: Turns) => {
  const longBodies = new Lane()
  return async (request: FastifyRequest): Promise<RequestBody> => {
    const { endpoint } = request.routeOptions.config
    if (endpoint?.body === undefined) return ABSENT
    let isLong = false as boolean
    let leave: (() => void) | undefined
    const body = await readBody(request.raw, limits, {
      form: endpoint.bodyIsRaw === true ? 'raw' : 'parsed',
      untilTurn: async (bytes) => {
        if (!isLong && bytes > SHORT_BYTES_MAX) {
          isLong = true
          leave = await longBodies.enter()
        }
        if (endpoint.isUrgent === undefined || isLong) await bodyTurn(turns, request)
      },
    }).finally(() => leave?.())
    // Validation takes about as long as a step of parsing: the event loop runs in between.
    if (isLong) await ownTurn(turns, request)
    return body
  }
}

/** Ends the turn of a client that hung up, so that other clients do not wait for it. */
const bodyTurn = (turns: Turns, { raw }: FastifyRequest): Promise<void> =>
  new Promise((resolve, reject) => {
    turns.take(() => {
      if (raw.socket.destroyed) reject(new ClientGoneError())
      else resolve()
    })
  })

const ownTurn = (turns: Turns, request: FastifyRequest): Promise<void> =>
  new Promise((resolve) => takeTurn(turns, request, resolve))

/** Validate, run, audit, respond. */
export const handlerOf = (route: Route, dependencies: HandlerDependencies) => {
  const { service, turns } = dependencies
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const validated = validate(route, request, service)
    if (validated.status === 'invalid') return sendProblem(reply, validated.problem)
    const { input } = validated
    const { overRate } = request
    if (overRate !== null && !reducesRisk(route, input, service)) return sendProblem(reply, overRate)
    const { isUrgent } = route
    if (typeof isUrgent === 'function' && !isUrgent(input)) await ownTurn(turns, request)
    const result = speaksForOther(route, input)
      ? refusedWith(AUTHOR_MISMATCH)
      : await run(route, input, dependencies)
    await auditResult(route, result, { request, traceId: input.traceId }, dependencies)
    switch (result.kind) {
      case 'refused':
        return sendProblem(reply, result.problem)
      case 'success':
        return sendSuccess(reply, result, route.successStatus)
      case 'stream':
        return openStream(result, route, { request, reply, service })
    }
  }
}

const reducesRisk = (route: Route, input: RequestInput, service: Service): boolean =>
  typeof route.reducesRisk === 'function' ? route.reducesRisk(input, service) : route.reducesRisk === true

const speaksForOther = ({ needs, author }: Route, input: RequestInput): boolean =>
  isMadeInAName(needs) && !maySpeakFor(input.caller, author?.(input))

type Validated =
  | { readonly status: 'valid'; readonly input: RequestInput }
  | { readonly status: 'invalid'; readonly problem: Problem }

/** Checks outside data once, and reports all errors at once. */
const validate = (route: Route, request: FastifyRequest, service: Service): Validated => {
  const received = (request.body as RequestBody | undefined) ?? ABSENT
  if (received.status === 'refused') return { status: 'invalid', problem: received.problem }
  const faults: Fault[] = []
  const params = check(route.params, request.params, 'path', faults)
  const query = check(route.query, request.query, 'query', faults)
  const headers = check(route.headers, request.headers, 'header', faults)
  const traceId = route.needs === 'public' ? null : traceIdOf(request.headers[TRACE_HEADER], faults)
  const body = bodyOf(route, received, faults)
  if (faults.length > 0) return { status: 'invalid', problem: invalidProblem(faults) }
  const { caller, id: requestId, raw } = request
  const ownAddress = connectionEnd(raw.socket.localAddress, raw.socket.localPort)
  const execute = executeFor(request, service, traceId)
  const given = { params, query, headers, body }
  return { status: 'valid', input: { ...given, caller, requestId, ownAddress, traceId, execute } }
}

/** Audit entry of an allowed request. */
const entryOf = ({ url, id, caller }: FastifyRequest, action: 'read' | 'write'): AccessEntry => ({
  ...keyNameOf(caller),
  resource: resourceOf(url),
  action,
  outcome: 'allowed',
  reason: null,
  request_id: id,
})

const executeFor =
  (request: FastifyRequest, { engine }: Service, requestTraceId: string | null): Execute =>
  async (command, bodyOf, { traceId = requestTraceId, auditedAs, replayHeaders = {} } = {}) => {
    const entry = { ...entryOf(request, 'write'), ...auditedAs }
    const alongside = auditedAs && ({ kind: 'record-access', surface: 'api', entry } as const)
    const executed = await engine.execute(command, { traceId, alongside: alongside ?? null })
    const outcome = await withLogChecked(engine.log, executed)
    if (outcome.status === 'refused') {
      const { code, detail, extras } = outcome.refusal
      return refused(code, detail, { extras })
    }
    return ok(await bodyOf(outcome.events), {
      unchanged: outcome.replayed || outcome.events.length === 0,
      isAudited: auditedAs !== undefined,
      headers: outcome.replayed ? replayHeaders : {},
    })
  }

const TRACE_HEADER = 'x-trace-id'

const traceIdSchema = plainText()

/** Null for an absent header and for an invalid one, which is also reported as a fault. */
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
  if (route.body === undefined) return undefined
  if (route.bodyIsRaw === true) return body.status === 'raw' ? body.bytes : new Uint8Array()
  if (body.status !== 'present') {
    if (!bodyIsOptional(route)) faults.push({ loc: ['body'], msg: 'A body is required', type: 'missing' })
    return undefined
  }
  const isObject = typeof body.value === 'object' && body.value !== null && !Array.isArray(body.value)
  if (isObject) return check(route.body, body.value, 'body', faults)
  faults.push({ loc: ['body'], msg: 'The body must be a JSON object', type: 'object_type' })
  return undefined
}

const run = async (
  route: Route,
  input: RequestInput,
  { service, handlerTimeoutMs, checkResponses }: HandlerDependencies,
): Promise<RouteResult> => {
  const work = (async () => route.handler(input, service))()
  const done =
    route.mayTakeLong?.(input) === true
      ? ({ status: 'done', value: await work } as const)
      : await withinTime(work, handlerTimeoutMs, (error) =>
          service.logger.error('request failed after its timeout', { request_id: input.requestId, error }),
        )
  if (done.status === 'late') return refusedWith(TOO_SLOW)
  if (checkResponses && done.value.kind === 'success') assertPromised(route, done.value)
  return done.value
}

/**
 * Audits after the effect and before the response: writes that changed something, refusals by the kill switch, and
 * reads if configured.
 */
const auditResult = async (
  route: Route,
  result: RouteResult,
  { request, traceId }: { readonly request: FastifyRequest; readonly traceId: string | null },
  { service, audit }: HandlerDependencies,
): Promise<void> => {
  const action = (result.kind === 'success' ? result.action : undefined) ?? actionOf(route)
  const entry = entryOf(request, action)
  if (result.kind === 'refused') {
    const { code } = result.problem
    if (code.startsWith('auth.'))
      return isDenialStored(service.engine, request.caller)
        ? audit.record({ ...entry, outcome: 'denied', reason: code }, traceId)
        : undefined
    if (statusOf(code) !== 423) return
    return audit.record({ ...entry, outcome: 'denied', reason: code.replace('.', '_') }, traceId)
  }
  const configuration = service.configuration.current()
  if (needOf(route, configuration) === 'public') return
  const isChange = result.kind === 'success' && !result.unchanged && !result.isAudited
  const isAudited = action === 'write' ? isChange : configuration.audit.reads
  if (isAudited) await audit.record(entry, traceId)
}

const assertPromised = (route: Route, result: Success): void => {
  if (result.form === 'empty') return
  if (result.form === 'text' && result.contentType !== JSON_TYPE) return
  const text = result.form === 'text' ? result.text : JSON.stringify(result.body)
  const body: unknown = JSON.parse(text)
  // Parsing removes members that the schema does not name.
  const other = route.otherResponses?.find(({ status }) => status === result.status)
  if (!isDeepStrictEqual((other?.content?.schema ?? route.response).parse(body), body))
    throw new Error(`the response of ${route.operationId} does not match its schema`)
}
