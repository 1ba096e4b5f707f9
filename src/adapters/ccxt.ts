import { AsyncLocalStorage } from 'node:async_hooks'
import { setMaxListeners } from 'node:events'
import type ccxt from 'ccxt'
import type { Deadline } from '../ports/broker.ts'
import type { Timer } from '../ports/timer.ts'
import { createRateLimiter, DeadlineError, type RateLimit, type RateLimiter } from './rate-limiter.ts'

// Shared by the ccxt feed and the ccxt broker: loading the library, HTTP, rate limits and reading of untrusted data.

type Ccxt = typeof ccxt

/** Loaded on first use: the library is large, and an optional dependency. */
export const loadCcxt = async (
  load: () => Promise<{ readonly default: Ccxt }> = () => import('ccxt'),
): Promise<Ccxt> => {
  try {
    return (await load()).default
  } catch (error) {
    if (memberOf(error, 'code') !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new Error(`the exchange library is not installed: run npm install ${CCXT_PACKAGE}`, {
      cause: error,
    })
  }
}

export const CCXT_PACKAGE = 'ccxt@4.5.84'

/** The members of the library's exchanges that the feed and the broker both use. */
interface LibraryApi {
  readonly rateLimit: number
  throttle: (cost: unknown) => Promise<void>
}

/** An error as the exchange states it. */
export interface VenueError {
  readonly code: string
  readonly message: string
  /** Time for which the exchange asks us to send no requests. */
  readonly pauseMs?: number
}

/** Most exchanges state errors as `{ code, msg }`. */
const commonErrorIn = (body: unknown): VenueError | null => {
  const code = textMemberOf(body, 'code')
  return code === null ? null : { code, message: textMemberOf(body, 'msg') ?? '' }
}

export interface ConnectionOptions extends Omit<RateLimit, 'rateLimitMs'> {
  readonly errorIn?: ((body: unknown) => VenueError | null) | undefined
  /** Defaults to the rate limit that the library knows for the exchange. */
  readonly rateLimitMs?: number | undefined
  readonly requestTimeoutMs?: number | undefined
  /** Checked before every request, after it was signed. By default every request may be sent. */
  readonly maySend?: (() => boolean) | undefined
}

/** An exchange of the library that sends its requests through our HTTP client and rate limiter. */
export const connect = async <Loaded extends { readonly api: LibraryApi }>(
  {
    requestTimeoutMs: timeoutMs = REQUEST_TIMEOUT_MS,
    rateLimitMs,
    maySend,
    errorIn = commonErrorIn,
    ...limit
  }: ConnectionOptions,
  load: (settings: object) => Promise<Loaded>,
): Promise<Loaded & { readonly http: HttpClient; readonly limiter: RateLimiter }> => {
  const { timer, signal } = limit
  // The HTTP client comes first: the exchange that knows the rate limit is built with it.
  let opened: RateLimiter | null = null
  const onRetryAfter = (waitMs: number): void => opened?.pause(waitMs)
  const http = createHttpClient({ signal, timer, timeoutMs, onRetryAfter, maySend, errorIn })
  const loaded = await load({ timeout: timeoutMs, fetchImplementation: http.fetch })
  const { api } = loaded
  const limiter = createRateLimiter({ ...limit, rateLimitMs: rateLimitMs ?? Math.max(1, api.rateLimit) })
  opened = limiter
  // The library knows what each request costs; the limiter runs on our timer.
  api.throttle = (cost) => limiter.take(Number(cost ?? 1), http.deadline())
  return { ...loaded, http, limiter }
}

const REQUEST_TIMEOUT_MS = 10_000

/** The library's URLs with every host moved below `baseUrl`, as the first part of the path. */
export const redirectUrls = (urls: unknown, baseUrl: string): unknown => {
  if (typeof urls === 'string')
    return urls.replace(/^(http|ws)s?:\/\//, (_, protocol: string) =>
      protocol === 'ws' ? `${baseUrl.replace(/^http/, 'ws')}/` : `${baseUrl}/`,
    )
  if (typeof urls !== 'object' || urls === null) return urls
  return Object.fromEntries(Object.entries(urls).map(([name, url]) => [name, redirectUrls(url, baseUrl)]))
}

/** A member of something that came from outside. */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined

export const textMemberOf = (value: unknown, name: string): string | null => {
  const member = memberOf(value, name)
  if (typeof member === 'number' || typeof member === 'bigint') return String(member)
  return typeof member === 'string' && member !== '' ? member : null
}

/** The library returns numbers as the exchange's own digits (`number = String`). */
export const numberOf = (value: unknown): number | null => {
  if (typeof value !== 'number' && (typeof value !== 'string' || value.trim() === '')) return null
  const number = Number(value)
  return Number.isFinite(number) ? number : null
}

export const positiveOf = (value: unknown): number | null => {
  const number = numberOf(value)
  return number !== null && number > 0 ? number : null
}

/** Coins that count as the dollar; earlier ones are preferred. */
export const DOLLARS: readonly string[] = ['USDT', 'USD', 'USDC', 'FDUSD']

/** Outcome of the last request of a call. */
export type RequestOutcome =
  /** The request never left this machine, or never reached another one. */
  | { readonly status: 'not_sent' }
  /** The request was sent and may have arrived. */
  | { readonly status: 'no_response'; readonly reason: string }
  | {
      readonly status: 'response'
      readonly httpStatus: number
      /** The exchange's own error code; null without one. */
      readonly code: string | null
      readonly message: string
    }

export type CallResult<T> =
  | { readonly status: 'done'; readonly value: T }
  | { readonly status: 'failed'; readonly error: unknown; readonly outcome: RequestOutcome }

/** Call and deadline of the code that runs now. */
interface Running {
  readonly call?: { outcome: RequestOutcome }
  readonly deadline?: Deadline
}

export interface HttpClient {
  /** Function with which the library sends its requests. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  /** Runs a call of the library. If it fails, the outcome of its last request is known. */
  track<T>(call: () => Promise<T>): Promise<CallResult<T>>
  /** Every request inside ends with the deadline, and none is sent after it. */
  until<T>(deadline: Deadline, run: () => Promise<T>): Promise<T>
  /** The deadline of the code that runs now. */
  deadline(): Deadline | null
}

export interface HttpClientDependencies {
  /** Ends every request. */
  readonly signal: AbortSignal
  readonly timer: Timer
  readonly timeoutMs: number
  /** The exchange asks for a pause. */
  readonly onRetryAfter: (waitMs: number) => void
  readonly maySend?: (() => boolean) | undefined
  readonly errorIn?: (body: unknown) => VenueError | null
}

/**
 * The library's own fetch neither stops with us nor times out while a body trickles in, and hides what happened: whether
 * an order may have arrived is decided from the request itself, not from the library's error classes.
 */
export const createHttpClient = (dependencies: HttpClientDependencies): HttpClient => {
  const {
    signal,
    timer,
    timeoutMs,
    onRetryAfter,
    maySend = () => true,
    errorIn = commonErrorIn,
  } = dependencies
  // Every request in flight listens for the end: many listeners are no leak.
  setMaxListeners(0, signal)
  const running = new AsyncLocalStorage<Running>()
  // Up to Node 22, every promise of the process queries each active storage. A forgotten one slows everything down.
  signal.addEventListener('abort', () => running.disable(), { once: true })
  // After the abort no request leaves, with or without a deadline. Using the storage again would re-enable it.
  const within = <T>(parts: Running, run: () => Promise<T>): Promise<T> =>
    signal.aborted ? run() : running.run({ ...running.getStore(), ...parts }, run)

  const send = async (url: string, init: RequestInit, call: { outcome: RequestOutcome }) => {
    call.outcome = { status: 'no_response', reason: 'the connection broke' }
    const response = await fetch(url, { ...init, redirect: 'error' })
    const { status, statusText, headers } = response
    const waitMs = pauseMs(status, headers.get('retry-after'), timer.now())
    if (waitMs !== null) onRetryAfter(waitMs)
    const text = await bodyOf(response)
    const { outcome, pauseMs: askedMs } = outcomeOf(status, text, errorIn)
    call.outcome = outcome
    if (askedMs !== undefined && waitMs === null) onRetryAfter(askedMs)
    if (call.outcome.status === 'no_response') throw new Error(call.outcome.reason)
    return new Response(text === '' ? null : text, { status, statusText, headers })
  }

  return {
    fetch: async (url, init) => {
      signal.throwIfAborted()
      const { deadline = null, call = { outcome: NOT_SENT } } = running.getStore() ?? {}
      // Checked by the clock: after a standstill the signal may arrive only after this line.
      if (deadline?.isOver() === true) throw new DeadlineError()
      call.outcome = NOT_SENT
      // Last check before the request leaves. The request is already signed: if this process is suspended here for
      // long, the exchange refuses it for its old timestamp.
      if (!maySend()) throw new Error('this process no longer leads')
      const controller = new AbortController()
      const abort = (): void => controller.abort()
      signal.addEventListener('abort', abort)
      deadline?.signal.addEventListener('abort', abort)
      let isTimedOut = false
      const timeout = timer.wait(timeoutMs, controller.signal).then(() => {
        isTimedOut = !controller.signal.aborted
        controller.abort()
      })
      try {
        return await send(url, { ...init, signal: controller.signal }, call)
      } catch (error) {
        if (isTimedOut) call.outcome = { status: 'no_response', reason: `no response within ${timeoutMs} ms` }
        if (deadline?.signal.aborted === true && call.outcome.status === 'no_response')
          call.outcome = { status: 'no_response', reason: 'no response before the deadline' }
        if (isUnconnected(error)) call.outcome = NOT_SENT
        throw error
      } finally {
        controller.abort()
        signal.removeEventListener('abort', abort)
        deadline?.signal.removeEventListener('abort', abort)
        await timeout
      }
    },
    until: (deadline, run) => {
      setMaxListeners(0, deadline.signal)
      return within({ deadline }, run)
    },
    deadline: () => running.getStore()?.deadline ?? null,
    track: <T>(run: () => Promise<T>): Promise<CallResult<T>> => {
      const call: { outcome: RequestOutcome } = { outcome: NOT_SENT }
      return within({ call }, async (): Promise<CallResult<T>> => {
        try {
          return { status: 'done', value: await run() }
        } catch (error) {
          return { status: 'failed', error, outcome: call.outcome }
        }
      })
    },
  }
}

const NOT_SENT: RequestOutcome = { status: 'not_sent' }

const isUnconnected = (error: unknown): boolean =>
  NO_CONNECTION.has(textMemberOf(memberOf(error, 'cause'), 'code') ?? '')

const NO_CONNECTION: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
])

const outcomeOf = (
  httpStatus: number,
  text: string,
  errorIn: (body: unknown) => VenueError | null,
): { readonly outcome: RequestOutcome; readonly pauseMs?: number | undefined } => {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    // The body is a proxy's page or half a response. The library would treat it as an empty list.
    if (httpStatus < 300)
      return {
        outcome: { status: 'no_response', reason: 'the exchange sent a response that is not JSON' },
      }
  }
  const error = errorIn(body)
  const [code, message] = [error?.code ?? null, error?.message ?? '']
  return { outcome: { status: 'response', httpStatus, code, message }, pauseMs: error?.pauseMs }
}

/** Lists of markets have some ten megabytes. */
const BODY_BYTES_MAX = 64 * 1024 * 1024

const bodyOf = async (response: Response): Promise<string> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    if (bytes > BODY_BYTES_MAX) throw new Error(`the response is longer than ${BODY_BYTES_MAX} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** How long an exchange asks for no requests: from `Retry-After` (seconds or a date), else by the kind of limit. */
export const pauseMs = (httpStatus: number, retryAfter: string | null, nowMs: number): number | null => {
  if (!LIMIT_STATUS.has(httpStatus)) return null
  const isSeconds = /^\s*\d+\s*$/.test(retryAfter ?? '')
  const waitMs = isSeconds ? Number(retryAfter) * 1000 : Date.parse(retryAfter ?? '') - nowMs
  if (!Number.isFinite(waitMs)) return DEFAULT_PAUSE_MS[httpStatus] ?? null
  return Math.max(0, Math.min(PAUSE_MS_MAX, waitMs))
}

const LIMIT_STATUS: ReadonlySet<number> = new Set([418, 429, 503])
/** A ban (418) without a time lasts two minutes at least. */
const DEFAULT_PAUSE_MS: Readonly<Record<number, number>> = { 418: 120_000, 429: 10_000 }
/** The longest ban that exchanges announce. */
const PAUSE_MS_MAX = 3 * 86_400_000
