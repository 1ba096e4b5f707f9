import { isDeepStrictEqual } from 'node:util'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AccessAudit } from './access-audit.ts'
import { JSON_TYPE, type Answer, type Success } from './answers.ts'
import { admit } from './authenticate.ts'
import { takeTurn } from './gate.ts'
import { readBody, type BodyLimits, type RequestBody } from './request-body.ts'
import { statusOf } from './problems.ts'
import { resourceOf } from './request-line.ts'
import { accessOf, actionOf, type Parts, type Route } from './route.ts'
import { sendProblem, sendSuccess } from './send.ts'
import type { Service } from './service.ts'
import { handOver } from './stream/hand-over.ts'
import { withinTime } from './time-limit.ts'
import { TOO_SLOW } from './errors.ts'
import type { Turns } from './turns.ts'
import { validate } from './validation.ts'

export interface HandlerDependencies {
  readonly service: Service
  readonly audit: AccessAudit
  readonly turns: Turns
  readonly handlerTimeoutMs: number
  /** Compares every answer with what the route promises. For tests: it costs a parse per answer. */
  readonly checkResponses: boolean
}

const ABSENT: RequestBody = { status: 'absent' }

/** Whatever body a request has, in the form that `validate` expects. A body that nobody asked for is not read. */
export const bodyParser =
  (limits: BodyLimits) =>
  (request: FastifyRequest): Promise<RequestBody> => {
    const { endpoint } = request.routeOptions.config
    if (endpoint?.body === undefined) return Promise.resolve(ABSENT)
    return readBody(request.raw, limits, endpoint.bodyIsRaw === true ? 'raw' : 'parsed')
  }

/** Validate, run, record, answer. */
export const handlerOf = (route: Route, parts: HandlerDependencies) => {
  const { service, audit } = parts
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const validated = validate(route, {
      params: request.params,
      query: request.query,
      headers: request.headers,
      body: (request.body as RequestBody | undefined) ?? ABSENT,
      requestId: request.id,
      resource: resourceOf(request.url),
    })
    if (validated.status === 'invalid') return sendProblem(reply, validated.problem)
    const given = { ...validated.parts, mayOperate: () => mayOperate(request, service) }
    const { isUrgent } = route
    if (typeof isUrgent === 'function' && !isUrgent(given))
      await new Promise<void>((resolve) => takeTurn(parts.turns, request, resolve))
    const answer = await run(route, given, parts)
    await record(route, answer, { service, audit, request, traceId: validated.parts.traceId })
    switch (answer.kind) {
      case 'refused':
        return sendProblem(reply, answer.problem)
      case 'success':
        return sendSuccess(reply, answer)
      case 'stream':
        return handOver(answer, route, { request, reply, service })
    }
  }
}

/** Whether the caller would come in at a door for operators. */
const mayOperate = ({ headers }: FastifyRequest, { configuration, insecureOk }: Service): boolean =>
  admit({
    access: 'operator',
    authorization: headers.authorization,
    configuration: configuration.current(),
    insecureOk,
  }).status === 'admitted'

const run = async (
  route: Route,
  parts: Parts,
  { service, handlerTimeoutMs, checkResponses }: HandlerDependencies,
): Promise<Answer> => {
  const work = (async () => route.handler(parts, service))()
  const answer =
    route.mayTakeLong?.(parts) === true ? await work : await timely(work, parts, service, handlerTimeoutMs)
  if (checkResponses && answer.kind === 'success') assertPromised(route, answer)
  return answer
}

const timely = async (
  work: Promise<Answer>,
  { requestId }: Parts,
  { logger }: Service,
  handlerTimeoutMs: number,
): Promise<Answer> => {
  const done = await withinTime(work, handlerTimeoutMs, (error) =>
    logger.error('a request failed after its time was over', { request_id: requestId, error }),
  )
  return done.status === 'done' ? done.value : { kind: 'refused', problem: TOO_SLOW }
}

interface Access {
  readonly service: Service
  readonly audit: AccessAudit
  readonly request: FastifyRequest
  readonly traceId: string | null
}

/** After the effect and before the answer: writes that changed something, refusals by the kill switch, reads if wanted. */
const record = async (route: Route, answer: Answer, access: Access): Promise<void> => {
  const reason = recordedAs(route, answer, access.service)
  if (reason === null) return
  await access.audit.record(
    {
      resource: resourceOf(access.request.url),
      action: actionTaken(route, answer),
      ...reason,
      request_id: access.request.id,
    },
    access.traceId,
  )
}

type Recorded =
  | { readonly outcome: 'allowed'; readonly reason: null }
  | { readonly outcome: 'denied'; readonly reason: string }

const recordedAs = (route: Route, answer: Answer, service: Service): Recorded | null => {
  if (answer.kind === 'refused') {
    const isLocked = statusOf(answer.problem.code) === 423
    return isLocked ? { outcome: 'denied', reason: answer.problem.code.replace('.', '_') } : null
  }
  const configuration = service.configuration.current()
  if (accessOf(route, configuration) === 'public') return null
  const isChange = answer.kind === 'success' && !answer.unchanged && !answer.isAudited
  const isWanted = actionTaken(route, answer) === 'write' ? isChange : configuration.audit.reads
  return isWanted ? { outcome: 'allowed', reason: null } : null
}

const actionTaken = (route: Route, answer: Answer): 'read' | 'write' =>
  (answer.kind === 'success' ? answer.action : undefined) ?? actionOf(route)

const assertPromised = (route: Route, answer: Success): void => {
  if (answer.form === 'empty') return
  const isJson = answer.form === 'value' || answer.contentType === JSON_TYPE
  if (!isJson) return
  const text = answer.form === 'text' ? answer.text : JSON.stringify(answer.body)
  const body: unknown = JSON.parse(text)
  const parsed: unknown = route.response.parse(body)
  // A member that the documentation does not name is left out by parsing.
  if (!isDeepStrictEqual(parsed, body)) {
    throw new Error(`${route.operationId} answers otherwise than it promises`)
  }
}
