import createClient from 'openapi-fetch'
import { readServerTime } from './server-clock.ts'
import type { paths } from './schema.generated.ts'
import type { Payload, WithPayload } from './types.ts'

export const API = '/api/v1'

/** The API through the dashboard's own origin, typed by its OpenAPI document. Everything but success is thrown. */
export const api = createClient<paths>({
  baseUrl: API,
  headers: { accept: 'application/json' },
  fetch: (request) => fetch(request, inTime(request)),
})

/** A service that is frozen accepts connections and never answers: nothing waits longer than this. */
const ANSWER_MS_MAX = 30_000

/** What an operator does comes before what a page reads. */
const inTime = ({ signal, method }: Request): RequestInit => ({
  signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)]),
  priority: method === 'GET' ? 'auto' : 'high',
})

api.use({
  onResponse: async ({ request, response }) => {
    readServerTime(response)
    if (response.ok) return
    const problem = await readProblem(response)
    // The dashboard's own server lost the service: as if there were no response.
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

/** A request without a response may have arrived: doing it twice may cost money. */
const unsure = (text: string): string =>
  `${text}. It may have received the request all the same: look before you repeat it.`

/** The body of a successful response. */
export const dataOf = async <Data>(response: Promise<{ readonly data?: Data }>): Promise<Data> =>
  (await response).data as Data

/** An error response of the service. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** Stable, such as `kill_switch.active`; `unknown` where the body has none. */
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

/** No response in time: what was asked for may have been done. */
export class NoAnswerError extends UnreachableError {
  override readonly name = 'NoAnswerError'
}

export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.status === 404

/** An event whose stored payload is no JSON still shows up, with the text under `unreadable`. */
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
    // A proxy in between may answer in HTML; the status says enough.
    return {}
  }
}
