import { sentenceOf, type Fault } from '../../core/shared/faults.ts'
import type { RefusalCode } from '../../core/shared/decision.ts'
import type { Json, JsonObject } from '../../core/shared/json.ts'

export const PROBLEM_TYPE = 'application/problem+json'

interface ProblemKind {
  readonly status: keyof typeof TITLES
  /** For the documentation: what leads to this code. */
  readonly when: string
  readonly retryAfterSeconds?: number
  /** The body is only its detail, as plain JSON. */
  readonly bare?: true
  /** Examples of the members it adds to those of every problem. */
  readonly extras?: JsonObject
}

const ID = '019c7874-0f70-7c3e-9a51-2f6f0c1b7a10'

const TOO_MANY = { loc: ['query', 'limit'], msg: 'must be at most 500', type: 'less_than_equal' }

const UNKNOWN_MODE = { loc: ['body', 'execution', 'mode'], msg: 'must be one of paper, live', type: 'enum' }

/** Problems of the HTTP surface itself. */
const OWN_KINDS = {
  'auth.missing_token': { status: 401, when: 'no bearer token was sent' },
  'auth.invalid_header': { status: 401, when: 'the Authorization header is not `Bearer <token>`' },
  'auth.invalid_token': { status: 401, when: 'the token is not the configured one' },
  'auth.forbidden': { status: 403, when: 'the operator token is needed' },
  'config.invalid': {
    status: 400,
    when: 'a configuration key is unknown or its value is not allowed',
    extras: { errors: [UNKNOWN_MODE] },
  },
  'config.not_saved': { status: 503, when: 'config/user.yaml could not be written', retryAfterSeconds: 5 },
  'contributor.attestation_not_found': {
    status: 404,
    when: 'the contributor has no attestation',
    extras: { id: ID },
  },
  'cors.origin_denied': { status: 403, when: 'the web origin is not in api.cors_origins' },
  'decision.not_found': { status: 404, when: 'no cycle and no conviction has this id', extras: { id: ID } },
  'event.not_found': { status: 404, when: 'no event has this id', extras: { event_id: ID } },
  'internal.error': { status: 500, when: 'something unexpected happened; the log names the request id' },
  'proof.unavailable': {
    status: 503,
    when: 'no signed checkpoint covers the event and none can be signed now',
    retryAfterSeconds: 5,
    extras: { event_id: ID },
  },
  'rate.limited': {
    status: 429,
    when: 'more requests per minute than api.rate_limit_per_minute',
    extras: { retry_after: 12 },
  },
  'request.headers_too_large': { status: 431, when: 'the request line and headers are too long' },
  'request.invalid': {
    status: 422,
    when: 'a parameter or member is missing or not allowed',
    extras: { errors: [TOO_MANY] },
  },
  'request.malformed_http': { status: 400, when: 'the request is not HTTP/1.1' },
  'request.malformed_json': { status: 400, when: 'the body is not JSON, not UTF-8, or names a member twice' },
  'request.timeout': { status: 408, when: 'the request arrived too slowly' },
  'request.too_large': {
    status: 413,
    when: 'the body is larger than 1 MiB',
    extras: { limit_bytes: 1_048_576 },
  },
  'request.unsupported_media_type': { status: 415, when: 'the body is not application/json' },
  'route.method_not_allowed': { status: 405, when: 'the path exists, but not with this method' },
  'route.not_found': { status: 404, when: 'no such path' },
  'server.shutting_down': { status: 503, when: 'the service is stopping', retryAfterSeconds: 5 },
  'server.timeout': { status: 503, when: 'the request took too long', retryAfterSeconds: 5 },
  'signal.not_found': { status: 404, when: 'no signal has this id', extras: { signal_id: ID } },
  'store.busy': { status: 503, when: 'too many writes are waiting', retryAfterSeconds: 1 },
  'store.unavailable': { status: 503, when: 'the event store does not answer', retryAfterSeconds: 5 },
  'stream.too_many_clients': {
    status: 503,
    when: 'stream.max_clients is reached',
    retryAfterSeconds: 5,
  },
} as const satisfies Readonly<Record<string, ProblemKind>>

/** Refusals of commands. A code without a status does not compile. */
const REFUSAL_KINDS: Readonly<Record<RefusalCode, ProblemKind>> = {
  'contributor.duplicate': {
    status: 409,
    when: 'the node_id is registered already',
    extras: { node_id: 'n1' },
  },
  'contributor.not_found': { status: 404, when: 'no such contributor', extras: { id: ID } },
  'idempotency.conflict': {
    status: 409,
    when: 'the key was used before with other content',
    extras: { event_id: ID },
  },
  'intent.not_awaiting': {
    status: 409,
    when: 'the intent does not wait for approval',
    extras: { intent_id: ID, intent_status: 'expired' },
  },
  'intent.not_found': { status: 404, when: 'no such intent', extras: { intent_id: ID } },
  'karma.settlement_rejected': {
    status: 400,
    when: 'none of the given intents can be settled',
    extras: { skipped: [{ id: ID, reason: 'unknown' }] },
  },
  'karma.wallet_not_locked': {
    status: 409,
    when: 'the wallet is not locked: change it in the configuration',
  },
  'kill_switch.active': { status: 423, when: 'the kill switch is above level 0', extras: { level: 1 } },
  'kill_switch.not_lower': { status: 409, when: 'a reset would raise the level' },
  'learning.disabled': { status: 409, when: 'learning is off' },
  'live.not_reduce_only': { status: 409, when: 'live trading is not in reduce-only mode' },
  'live.positions_open': {
    status: 409,
    when: 'positions of another account are open',
    extras: { open_positions: 1, open_orders: 0 },
  },
  'order.not_found': { status: 404, when: 'no such order', extras: { order_id: ID } },
  'order.not_open': {
    status: 409,
    when: 'the order has ended, or is being canceled',
    extras: { order_id: ID, order_status: 'filled' },
  },
  'position.not_found': {
    status: 404,
    when: 'no such position; the body is only `{"detail":…}`',
    bare: true,
  },
  'position.not_open': {
    status: 409,
    when: 'the position is closed or about to be',
    extras: { position_id: ID, position_status: 'closed' },
  },
  'price.unavailable': { status: 409, when: 'no recent price for the symbol', extras: { position_id: ID } },
  'producer.duplicate': { status: 409, when: 'the name is taken', extras: { name: 'p1' } },
  'producer.not_found': { status: 404, when: 'no such producer', extras: { name: 'p1' } },
  'signal.invalid_type': {
    status: 400,
    when: 'only signal.curator.v1 can be submitted',
    extras: { event_type: 'signal.nope.v1' },
  },
  'signal.type_not_allowed': { status: 403, when: 'this author may not emit this type' },
  'trace.session_closed': {
    status: 409,
    when: 'the session is closed or expired',
    extras: { session_id: ID, session_status: 'closed' },
  },
  'trace.session_full': { status: 409, when: 'the session holds as many trace ids as it may' },
  'trace.session_not_found': { status: 404, when: 'no such session', extras: { session_id: ID } },
}

/** RFC 9110's phrases; Node still has some of the older ones. */
const TITLES = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  423: 'Locked',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
} as const

export type ProblemCode = keyof typeof OWN_KINDS | RefusalCode

const KINDS: Readonly<Record<ProblemCode, ProblemKind>> = { ...OWN_KINDS, ...REFUSAL_KINDS }

export const PROBLEM_CODES = Object.keys(KINDS).toSorted() as readonly ProblemCode[]

/** The request id is added when it is sent. */
export interface Problem {
  readonly code: ProblemCode
  readonly detail: string
  readonly extras: JsonObject
  readonly headers: Readonly<Record<string, string>>
}

export const problem = (
  code: ProblemCode,
  detail: string,
  { extras = {}, headers = {} }: Partial<Pick<Problem, 'extras' | 'headers'>> = {},
): Problem => {
  const { retryAfterSeconds } = KINDS[code]
  const wait = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
  return { code, detail, extras, headers: { ...wait, ...headers } }
}

/** All faults at once; `detail` is the first one. */
export const invalidProblem = (
  faults: readonly Fault[],
  code: Extract<
    ProblemCode,
    'request.invalid' | 'config.invalid' | 'karma.settlement_rejected'
  > = 'request.invalid',
): Problem => {
  const [first, ...others] = faults
  const sentence = first === undefined ? 'The request is not valid' : sentenceOf(first)
  const detail = others.length === 0 ? sentence : `${sentence} (and ${others.length} more)`
  return problem(code, detail, { extras: { errors: faults as unknown as Json } })
}

export const statusOf = (code: ProblemCode): number => KINDS[code].status

export const titleOf = (code: ProblemCode): string => TITLES[KINDS[code].status]

export const meaningOf = (code: ProblemCode): string => KINDS[code].when

export const isBare = (code: ProblemCode): boolean => KINDS[code].bare === true

/** For the documentation. */
export const problemExample = (code: ProblemCode): JsonObject => {
  const { status, when, extras = {}, bare } = KINDS[code]
  if (bare === true) return { detail: 'Position not found' }
  return { status, title: TITLES[status], code, detail: when, ...extras, request_id: ID }
}

export const problemText = ({ code, detail, extras }: Problem, requestId: string): string =>
  JSON.stringify(
    isBare(code)
      ? { detail }
      : { status: statusOf(code), title: titleOf(code), code, detail, ...extras, request_id: requestId },
  )
