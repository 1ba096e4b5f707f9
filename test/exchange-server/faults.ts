import type { ServerResponse } from 'node:http'
import type { ExchangeResponse, Wire } from './requests.ts'

/** Faults before the venue processes a request. A slow request is processed after the wait. */
export type ArrivalFault =
  | { readonly kind: 'drop' }
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterSeconds?: number }
  | { readonly kind: 'slow'; readonly waitMs: number }
  /** The connection breaks at once. The venue processes the request after the wait. */
  | { readonly kind: 'drop_then_done'; readonly waitMs: number }
  /** Headers and the first bytes arrive, the rest does not. */
  | { readonly kind: 'trickle' }
  | { readonly kind: 'garbage' }
  | {
      readonly kind: 'refuse'
      readonly status: number
      readonly code: number | string
      readonly message: string
      readonly retryAfterSeconds?: number
    }

/** Faults after the venue has processed the request. */
export type AnswerFault =
  | { readonly kind: 'done_then_drop' }
  | { readonly kind: 'done_then_slow'; readonly waitMs: number }
  | { readonly kind: 'done_then_status'; readonly status: number; readonly code?: number | string }
  | { readonly kind: 'done_then_garbage' }
  /** Numbers have more digits than the venue keeps. */
  | { readonly kind: 'done_then_wrong_precision' }

/** Deviations in the handling of a new order. */
export type OrderTwist =
  /** Acknowledged, but not stored. */
  | { readonly kind: 'lost' }
  /** Not found by this many lookups. */
  | { readonly kind: 'hidden'; readonly lookups: number }
  | { readonly kind: 'partial'; readonly share: number; readonly rest: 'canceled' | 'open' }
  /** Not listed by this many queries for trades. */
  | { readonly kind: 'late_trades'; readonly queries: number }

/** Deviations of a list of trades. */
export type ListTwist = { readonly kind: 'repeated' } | { readonly kind: 'shuffled' }

export type Fault = ArrivalFault | AnswerFault | OrderTwist | ListTwist

/** Random faults. The same seed gives the same faults for the same requests. */
export interface FaultSchedule {
  readonly seed: number
  /** Share of the matching requests that get a fault. */
  readonly share: number
  readonly choices: readonly FaultChoice[]
}

export interface FaultChoice {
  readonly request: RegExp
  readonly fault: Fault
}

/** The faults to apply from now on. Requests are named like `POST fapi.binance.com/fapi/v1/order`. */
export interface Faults {
  /** Adds a fault for the next `times` requests with a matching name. The first matching fault applies. */
  add(request: RegExp, fault: Fault, times?: number): void
  /** Replaces the schedule; null removes it. */
  schedule(schedule: FaultSchedule | null): void
  clear(): void
  /** The fault of this request. Each fault is used up by its request. */
  take(request: string): Fault | null
}

export const createFaults = (): Faults => {
  let waiting: Waiting[] = []
  let scheduled: ((request: string) => Fault | null) | null = null
  return {
    add: (request, fault, times = Number.POSITIVE_INFINITY) => {
      waiting = [...waiting, { request, fault, left: times }]
    },
    schedule: (schedule) => {
      scheduled = schedule === null ? null : drawFrom(schedule)
    },
    clear: () => {
      waiting = []
      scheduled = null
    },
    take: (request) => {
      const found = waiting.find((entry) => entry.left > 0 && entry.request.test(request))
      if (found === undefined) return scheduled?.(request) ?? null
      found.left -= 1
      return found.fault
    },
  }
}

interface Waiting {
  readonly request: RegExp
  readonly fault: Fault
  left: number
}

const drawFrom = ({ seed, share, choices }: FaultSchedule): ((request: string) => Fault | null) => {
  const draw = drawsOf(seed)
  return (request) => {
    const fitting = choices.filter((choice) => choice.request.test(request))
    if (fitting.length === 0 || draw() >= share) return null
    return fitting[Math.floor(draw() * fitting.length)]?.fault ?? null
  }
}

/** Pseudo-random numbers from 0 to 1 (mulberry32). */
const drawsOf = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export const send = (response: ServerResponse, { status, body }: ExchangeResponse): void => {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}

/** Fails the request instead of answering. False if the venue must process the request all the same. */
export const failInstead = (
  response: ServerResponse,
  fault: Fault | null,
  { errorBody }: Pick<Wire, 'errorBody'>,
): boolean => {
  switch (fault?.kind) {
    case 'drop':
      response.socket?.destroy()
      return true
    case 'status':
      setRetryAfter(response, fault.retryAfterSeconds)
      response.writeHead(fault.status).end('<html>no</html>')
      return true
    case 'refuse':
      setRetryAfter(response, fault.retryAfterSeconds)
      send(response, { status: fault.status, body: errorBody(String(fault.code), fault.message) })
      return true
    case 'trickle':
      response.writeHead(200, { 'Content-Type': 'application/json' }).write('[[1')
      return true
    case 'garbage':
      sendGarbage(response)
      return true
    default:
      return false
  }
}

/** Sends the answer, or the result of a fault on its way. */
export const sendWithFault = (
  response: ServerResponse,
  answer: ExchangeResponse,
  fault: Fault | null,
  { errorBody, unknownCode }: Pick<Wire, 'errorBody' | 'unknownCode'>,
): void => {
  switch (fault?.kind) {
    case 'done_then_drop':
      response.socket?.destroy()
      return
    case 'done_then_status':
      send(response, {
        status: fault.status,
        body: errorBody(
          String(fault.code ?? unknownCode),
          'Unknown error, please check your request or try again later.',
        ),
      })
      return
    case 'done_then_garbage':
      sendGarbage(response)
      return
    case 'done_then_wrong_precision':
      send(response, { ...answer, body: overprecise(answer.body) })
      return
    default:
      send(response, answer)
  }
}

const setRetryAfter = (response: ServerResponse, retryAfterSeconds: number | undefined): void => {
  if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', retryAfterSeconds)
}

const sendGarbage = (response: ServerResponse): void => {
  response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>back soon</html>')
}

const overprecise = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body), (name, value: unknown) => {
    if (
      typeof value === 'string' &&
      (/^\d+\.\d{8}$/.test(value) || (SIZES.has(name) && /^[\d.]+$/.test(value)))
    )
      return `${value.includes('.') ? value : `${value}.`}000000001`
    if (typeof value === 'number' && SIZES.has(name)) return value + 0.000000001
    return value
  })

/** Members that are quantities, at venues that do not write them with eight decimals. */
const SIZES: ReadonlySet<string> = new Set([
  'qty',
  'cumExecQty',
  'execQty',
  'sz',
  'accFillSz',
  'fillSz',
  'quantity',
  'filled',
  'size',
])
