import type { RefusalCode } from '../core/shared/decision.ts'
import type { JsonObject } from '../core/shared/json.ts'

/** The codes of errors: REST, the command line and the dashboard answer the same code with the same status. */

/** Status, what leads to the code, and an example of the members it adds to those of every problem. */
type ProblemKind = readonly [status: keyof typeof TITLES, when: string, extras?: JsonObject]

export const EXAMPLE_ID = '019c7874-0f70-7c3e-9a51-2f6f0c1b7a10'

const TS = '2026-02-20T00:29:58.000Z'

const TOO_MANY = { loc: ['query', 'limit'], msg: 'must be at most 500', type: 'less_than_equal' }

const UNKNOWN_MODE = { loc: ['body', 'execution', 'mode'], msg: 'must be one of paper, live', type: 'enum' }

/** Problems of the surfaces themselves. */
const OWN_KINDS = {
  'as_of.busy': [503, 'as many answers about the past are worked on as may be'],
  'as_of.out_of_range': [404, '`as_of` is beyond the last event, before the first one, or in the future'],
  'auth.missing_token': [401, 'no bearer token was sent'],
  'auth.invalid_header': [401, 'the Authorization header is not `Bearer <token>`'],
  'auth.invalid_token': [401, 'the token is not a configured one, and no valid access key'],
  'auth.author_mismatch': [
    403,
    'the access key speaks for one author alone, and this is not made in its name',
  ],
  'auth.scope_missing': [403, 'the access key does not have the scope', { scope: 'submit' }],
  'backtest.not_found': [404, 'no backtest or sweep has this id', { id: EXAMPLE_ID }],
  'backtest.queue_full': [429, 'as many backtests and sweeps wait or run as may', { max: 20 }],
  'backtest.refused': [422, 'the run cannot be made as it was asked for; the detail says why'],
  'config.invalid': [
    400,
    'a configuration key is unknown or its value is not allowed',
    { errors: [UNKNOWN_MODE] },
  ],
  'config.not_saved': [503, 'config/user.yaml could not be written'],
  'contributor.attestation_not_found': [404, 'the contributor has no attestation', { id: EXAMPLE_ID }],
  'cors.origin_denied': [403, 'the web origin is not in api.cors_origins'],
  'decision.not_found': [404, 'no cycle and no conviction has this id', { id: EXAMPLE_ID }],
  'event.not_found': [404, 'no event has this id', { event_id: EXAMPLE_ID }],
  'checkpoint.not_found': [404, 'no checkpoint of this size is kept', { size: 5, kept: [8] }],
  'symbol.not_found': [404, 'there are no bars of the symbol', { symbol: 'BTC' }],
  'internal.error': [500, 'something unexpected happened; the log names the request id'],
  'proof.unavailable': [
    503,
    'no signed checkpoint covers the event and none can be signed now, or no accepted key has signed the event',
    { event_id: EXAMPLE_ID },
  ],
  'rate.limited': [429, 'more requests per minute than api.rate_limit_per_minute', { retry_after: 12 }],
  'request.headers_too_large': [431, 'the request line and headers are too long'],
  'request.host_denied': [403, 'no token is required, and the Host header names another machine'],
  'request.invalid': [422, 'a parameter or member is missing or not allowed', { errors: [TOO_MANY] }],
  'request.malformed_http': [400, 'the request is not HTTP/1.1'],
  'request.malformed_json': [400, 'the body is not JSON, not UTF-8, or names a member twice'],
  'request.timeout': [408, 'the request arrived too slowly'],
  'request.too_large': [413, 'the body is larger than 1 MiB', { limit_bytes: 1_048_576 }],
  'request.unsupported_media_type': [415, 'the body is not application/json'],
  'route.method_not_allowed': [405, 'the path exists, but not with this method'],
  'route.not_found': [404, 'no such path'],
  'server.not_ready': [503, 'the service starts, stops or cannot reach its store', { reasons: ['draining'] }],
  'server.shutting_down': [503, 'the service is stopping'],
  'server.timeout': [503, 'the request took too long'],
  'signal.not_found': [404, 'no signal has this id', { signal_id: EXAMPLE_ID }],
  'store.busy': [503, 'too many writes are waiting'],
  'store.unavailable': [503, 'the event store does not answer'],
  'stream.too_many_clients': [503, 'stream.max_clients is reached'],
  'verification.not_found': [404, 'no such verification, or it ended long ago', { job: EXAMPLE_ID }],
} as const satisfies Readonly<Record<string, ProblemKind>>

/** Refusals of commands. A code without a status does not compile. */
const REFUSAL_KINDS: Readonly<Record<RefusalCode, ProblemKind>> = {
  'access_key.author_unknown': [
    404,
    'the contributor or producer of the access key is not registered',
    { producer: 'p1' },
  ],
  'access_key.duplicate': [409, 'there is an access key of this name', { name: 'k1' }],
  'access_key.expired': [400, 'the access key would have expired already', { expires_at: TS }],
  'access_key.not_found': [404, 'no such access key', { name: 'k1' }],
  'access_key.too_many': [409, 'there are as many access keys as there may be'],
  'auth.forbidden': [403, 'the operator token is needed'],
  'auth.not_owner': [403, 'the run or session is that of another caller', { id: EXAMPLE_ID }],
  'confirmation.stale': [409, 'what the confirmation code was given for has changed since'],
  'contributor.duplicate': [409, 'the node_id is registered already', { node_id: 'n1' }],
  'contributor.key_protected': [
    403,
    'the contributor has a public key: only an operator, or the same key, may do this',
    { node_id: 'n1' },
  ],
  'contributor.not_found': [404, 'no such contributor', { id: EXAMPLE_ID }],
  'contributor.signature_expired': [
    403,
    'the ts of a signed submission is too old or too far ahead',
    { node_id: 'n1', ts: '2026-02-20T00:29:58.000Z' },
  ],
  'contributor.signature_invalid': [
    403,
    'the signature does not belong to the submission and the key of the contributor',
    { node_id: 'n1' },
  ],
  'contributor.signature_missing': [
    403,
    'the contributor has a public key, and the submission is not signed',
    { node_id: 'n1' },
  ],
  'idempotency.conflict': [409, 'the key was used before with other content', { event_id: EXAMPLE_ID }],
  'identity.already_admitted': [409, 'this log accepts the key already'],
  'identity.invalid': [422, 'the node id does not belong to the public key'],
  'identity.last_key': [409, 'no other key would be accepted any more'],
  'identity.not_admitted': [403, 'this log does not accept the key'],
  'intent.not_awaiting': [
    409,
    'the intent does not wait for approval',
    { intent_id: EXAMPLE_ID, intent_status: 'expired' },
  ],
  'intent.not_found': [404, 'no such intent', { intent_id: EXAMPLE_ID }],
  'karma.settlement_rejected': [
    400,
    'none of the given intents can be settled',
    { skipped: [{ id: EXAMPLE_ID, reason: 'unknown' }] },
  ],
  'karma.wallet_not_locked': [409, 'the wallet is not locked: change it in the configuration'],
  'kill_switch.active': [423, 'the kill switch is above level 0', { level: 1 }],
  'kill_switch.not_lower': [409, 'a reset would raise the level'],
  'learning.disabled': [409, 'learning is off'],
  'live.not_reduce_only': [409, 'live trading is not in reduce-only mode'],
  'live.positions_open': [
    409,
    'positions of another account are open',
    { open_positions: 1, open_orders: 0 },
  ],
  'order.not_found': [404, 'no such order', { order_id: EXAMPLE_ID }],
  'order.not_open': [
    409,
    'the order has ended, or is being canceled',
    { order_id: EXAMPLE_ID, order_status: 'filled' },
  ],
  'position.not_found': [404, 'no such position; the body is only `{"detail":…}`'],
  'position.not_open': [
    409,
    'the position is closed or about to be',
    { position_id: EXAMPLE_ID, position_status: 'closed' },
  ],
  'price.unavailable': [409, 'no recent price for the symbol', { position_id: EXAMPLE_ID }],
  'producer.duplicate': [409, 'the name is taken', { name: 'p1' }],
  'producer.not_found': [404, 'no such producer', { name: 'p1' }],
  'producer.reserved': [
    403,
    'built-in producers emit only from inside the service',
    { name: 'technical-analysis' },
  ],
  'signal.invalid_type': [400, 'only signal.curator.v1 can be submitted', { event_type: 'signal.nope.v1' }],
  'signal.source_reserved': [403, 'the source is the name of another author', { source: 'p1' }],
  'signal.type_not_allowed': [403, 'this author may not emit this type'],
  'trace.session_closed': [
    409,
    'the session is closed or expired',
    { session_id: EXAMPLE_ID, session_status: 'closed' },
  ],
  'trace.session_full': [409, 'the session holds as many trace ids as it may'],
  'trace.session_not_found': [404, 'no such session', { session_id: EXAMPLE_ID }],
}

/** RFC 9110's phrases; Node still has some of the older ones. */
export const TITLES = {
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
  502: 'Bad Gateway',
  503: 'Service Unavailable',
} as const

export type ProblemCode = keyof typeof OWN_KINDS | RefusalCode

export const PROBLEM_KINDS: Readonly<Record<ProblemCode, ProblemKind>> = { ...OWN_KINDS, ...REFUSAL_KINDS }
