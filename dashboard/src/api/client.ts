import createClient from 'openapi-fetch'
import { readServerTime } from './server-clock.ts'
import type { paths } from './schema.generated.ts'
import type { Payload, WithPayload } from './types.ts'

export const API = '/api/v1'

/**
 * The API through the dashboard's own origin, typed by its OpenAPI document. Throws for every response other than
 * success.
 */
export const api = createClient<paths>({
  baseUrl: API,
  headers: { accept: 'application/json' },
  fetch: (request) => fetch(request, inTime(request)),
})

/** Time limit of a request. A frozen service accepts connections and never answers. */
const ANSWER_MS_MAX = 30_000

/** Options of a request: a time limit, and a higher priority for writes than for reads. */
const inTime = ({ signal, method }: Request): RequestInit => ({
  signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)]),
  priority: method === 'GET' ? 'auto' : 'high',
})

api.use({
  onResponse: async ({ request, response }) => {
    readServerTime(response)
    if (response.ok) return
    const problem = await readProblem(response)
    // The dashboard's own server cannot reach the service: treated like a missing response.
    if (problem['code'] === API_UNREACHABLE && isWrite(request)) throw new UnreachableError(unsure(NO_ANSWER))
    throw new ApiError(response.status, problem)
  },
  onError: ({ request, error }) => {
    if (error instanceof DOMException && error.name !== 'TimeoutError') return error
    const isLate = error instanceof DOMException
    const text = isLate ? 'The service does not answer in time' : NO_ANSWER
    const message = isWrite(request) ? unsure(text) : text
    return isLate ? new NoAnswerError(message) : new UnreachableError(message)
  },
})

const NO_ANSWER = 'The service does not answer'
const API_UNREACHABLE = 'dashboard.api_unreachable'

const isWrite = ({ method }: Request): boolean => method !== 'GET'

/** Warning for a request without a response: it may have arrived, and repeating it may cost money. */
const unsure = (text: string): string =>
  `${text}. It may have received the request all the same: look before you repeat it.`

/** The body of a successful response. */
export const dataOf = async <Data>(response: Promise<{ readonly data?: Data }>): Promise<Data> =>
  (await response).data as Data

/** An error response of the service. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** Stable code, such as `kill_switch.active`; `unknown` if the body has none. */
  readonly code: string
  readonly fieldErrors: readonly FieldError[]
  readonly requestId: string | null

  constructor(status: number, body: Payload) {
    super(typeof body['detail'] === 'string' ? body['detail'] : `The service answered ${status}`)
    this.status = status
    this.code = typeof body['code'] === 'string' ? body['code'] : 'unknown'
    this.fieldErrors = Array.isArray(body['errors']) ? (body['errors'] as FieldError[]) : []
    this.requestId = typeof body['request_id'] === 'string' ? body['request_id'] : null
  }
}

export interface FieldError {
  readonly loc: readonly (string | number)[]
  readonly msg: string
}

/** No response: the network or the service is down. */
export class UnreachableError extends Error {
  override readonly name: string = 'UnreachableError'

  constructor(message = NO_ANSWER) {
    super(message)
  }
}

/** No response in time. The request may have been carried out. */
export class NoAnswerError extends UnreachableError {
  override readonly name = 'NoAnswerError'
}

export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.status === 404

/** Converts an event. A stored payload that is no JSON is shown as text under `unreadable`. */
export const withPayload = <Event extends { readonly payload: Payload | string }>(
  event: Event,
): WithPayload<Event> => ({
  ...event,
  payload: typeof event.payload === 'string' ? { unreadable: event.payload } : event.payload,
})

const readProblem = async (response: Response): Promise<Payload> => {
  try {
    const body = (await response.json()) as unknown
    return typeof body === 'object' && body !== null ? (body as Payload) : {}
  } catch {
    // A proxy in between may answer in HTML. The status is enough.
    return {}
  }
}
