import type { Holder } from '../../core/shared/fair-share.ts'
import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { JsonObject } from '../../core/shared/json.ts'
import type { ProblemCode } from '../problem-codes.ts'
import { isBare, PROBLEM_TYPE, problem, problemText, statusOf, titleOf, type Problem } from './problems.ts'

export const JSON_TYPE = 'application/json'

/** Result of a handler. `Body` is the shape that the route promises. */
export type RouteResult<Body = unknown> = Success<Body> | Refused | StreamResult

export type Success<Body = unknown> = Content<Body> & SuccessInfo

type Content<Body> =
  | { readonly form: 'value'; readonly body: Body }
  /** Finished text, for responses that are assembled from stored text. */
  | { readonly form: 'text'; readonly text: string; readonly contentType: string }
  | { readonly form: 'empty' }

interface SuccessInfo {
  readonly kind: 'success'
  /** HTTP status, if it differs from the route's. */
  readonly status?: number
  readonly headers: Readonly<Record<string, string>>
  /** True for a write that changed nothing: nothing was stored, so nothing is audited. */
  readonly unchanged: boolean
  /** True if the audit entry was stored together with the write. */
  readonly isAudited: boolean
  /** Action of this request in the audit, if the route alone does not determine it. */
  readonly action?: 'read' | 'write'
}

export interface Refused {
  readonly kind: 'refused'
  readonly problem: Problem
}

/** The response stays open while the client is connected. Only for routes with `streams`. */
export interface StreamResult {
  readonly kind: 'stream'
  /** Takes the connection over, or returns the reason for not doing so and leaves it untouched. */
  readonly open: (connection: StreamConnection) => Problem | null
}

/** A connection that waits for the first byte of a response that stays open. */
export interface StreamConnection {
  readonly response: ServerResponse
  readonly requestId: string
  /** True if the response is sent in chunks of HTTP/1.1. */
  readonly isChunked: boolean
  /** Sends status 200, the standard headers, the given headers, and the first bytes. */
  readonly begin: (headers: Readonly<Record<string, string>>, first: Buffer) => void
  readonly onClosed: (listener: () => void) => void
  /** Caller that opened the stream. */
  readonly holder: Holder
  /** True if it was opened with an access key, which expires or can be revoked. */
  readonly isKeyed: boolean
  /** True while the token that opened it is valid. */
  readonly isAuthorized: () => boolean
}

type SuccessOptions = Partial<Omit<SuccessInfo, 'kind'>>

export const ok = <const Body>(body: Body, options: SuccessOptions = {}): Success<Body> => ({
  form: 'value',
  body,
  ...SUCCESS,
  ...options,
})

export const okText = (text: string, contentType: string, options: SuccessOptions = {}): Success<never> => ({
  form: 'text',
  text,
  contentType,
  ...SUCCESS,
  ...options,
})

/** Text that is known to be JSON of the promised shape. */
export const okJsonText = (text: string, options: SuccessOptions = {}): Success<never> =>
  okText(text, JSON_TYPE, options)

export const okEmpty = (options: SuccessOptions): Success<never> => ({
  form: 'empty',
  ...SUCCESS,
  ...options,
})

const SUCCESS = { kind: 'success', headers: {}, unchanged: false, isAudited: false } as const

export const stream = (open: StreamResult['open']): StreamResult => ({ kind: 'stream', open })

export const refused = (...args: Parameters<typeof problem>): Refused => refusedWith(problem(...args))

export const refusedWith = (refusal: Problem): Refused => ({ kind: 'refused', problem: refusal })

/** The item that was found, or a refusal if it is null. */
export const okOr = <const Body>(
  body: Body | null,
  code: ProblemCode,
  detail: string,
  extras: JsonObject,
): Success<Body> | Refused => (body === null ? refused(code, detail, { extras }) : ok(body))

export const sendSuccess = (reply: FastifyReply, success: Success, routeStatus = 200): FastifyReply => {
  reply.code(success.status ?? routeStatus).headers(success.headers)
  if (success.form === 'empty') return reply.send()
  const isText = success.form === 'text'
  const text = isText ? success.text : JSON.stringify(success.body)
  return reply
    .header('content-type', isText ? success.contentType : JSON_TYPE)
    .serializer(asIs)
    .send(text)
}

export const sendProblem = (reply: FastifyReply, refusal: Problem): FastifyReply => {
  reply.raw.statusMessage = titleOf(refusal.code)
  return reply
    .code(statusOf(refusal.code))
    .headers(refusal.headers)
    .header('content-type', isBare(refusal.code) ? JSON_TYPE : PROBLEM_TYPE)
    .serializer(asIs)
    .send(problemText(refusal, reply.request.id))
}

/** Without a serializer the framework adds a charset, which JSON types do not have. */
const asIs = (text: unknown): string => text as string
