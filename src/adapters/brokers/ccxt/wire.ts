import { AsyncLocalStorage } from 'node:async_hooks'
import type { Timer } from '../../../ports/timer.ts'
import { memberOf, textMemberOf } from './values.ts'
import type { Outcome } from './verdict.ts'

/** The way to the venue, which remembers what became of each request. */
export interface Wire {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  /** Runs a call. When it fails, it is known what became of the last request it made. */
  watch<T>(call: () => Promise<T>): Promise<Watched<T>>
}

export type Watched<T> =
  | { readonly status: 'done'; readonly value: T }
  | { readonly status: 'failed'; readonly error: unknown; readonly outcome: Outcome }

export interface WireDependencies {
  /** Ends every request. */
  readonly signal: AbortSignal
  readonly timer: Timer
  readonly timeoutMs: number
  /** The venue asks to be left alone. */
  readonly onLeaveAlone: (waitMs: number) => void
}

/**
 * The library turns every failure into an error of its own, whose kind even depends on the host. Whether an order may
 * have been accepted is decided from what really happened on the wire.
 */
export const createWire = ({ signal, timer, timeoutMs, onLeaveAlone }: WireDependencies): Wire => {
  const calls = new AsyncLocalStorage<Note>()

  const send = async (url: string, init: RequestInit, note: Note): Promise<Response> => {
    note.outcome = { status: 'no_answer', why: 'the connection broke' }
    const response = await fetch(url, { ...init, redirect: 'error' })
    const { status, statusText, headers } = response
    const holdMs = holdOf(status, headers.get('retry-after'))
    if (holdMs !== null) onLeaveAlone(holdMs)
    const text = await bodyOf(response)
    note.outcome = answeredWith(status, text)
    if (note.outcome.status === 'no_answer') throw new Error(note.outcome.why)
    return new Response(text === '' ? null : text, { status, statusText, headers })
  }

  return {
    fetch: async (url, init) => {
      signal.throwIfAborted()
      const note = calls.getStore() ?? { outcome: NOT_SENT }
      const controller = new AbortController()
      const end = (): void => controller.abort()
      signal.addEventListener('abort', end)
      let isLate = false
      const timeout = timer.wait(timeoutMs, controller.signal).then(() => {
        isLate = !controller.signal.aborted
        controller.abort()
      })
      try {
        return await send(url, { ...init, signal: controller.signal }, note)
      } catch (error) {
        if (isLate) note.outcome = { status: 'no_answer', why: `no answer within ${timeoutMs} ms` }
        if (neverLeft(error)) note.outcome = NOT_SENT
        throw error
      } finally {
        controller.abort()
        signal.removeEventListener('abort', end)
        await timeout
      }
    },
    watch: <T>(call: () => Promise<T>): Promise<Watched<T>> => {
      const note: Note = { outcome: NOT_SENT }
      return calls.run(note, async (): Promise<Watched<T>> => {
        try {
          return { status: 'done', value: await call() }
        } catch (error) {
          return { status: 'failed', error, outcome: note.outcome }
        }
      })
    },
  }
}

interface Note {
  outcome: Outcome
}

const NOT_SENT: Outcome = { status: 'not_sent' }

/** Nobody was there to talk to: the request itself was not even begun. */
const neverLeft = (error: unknown): boolean => {
  const code = memberOf(memberOf(error, 'cause'), 'code')
  return typeof code === 'string' && NO_CONNECTION.has(code)
}

const NO_CONNECTION: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
])

const answeredWith = (httpStatus: number, text: string): Outcome => {
  const body = parsed(text)
  if (httpStatus < 300 && body === undefined)
    return { status: 'no_answer', why: 'the venue told something that is no data' }
  return {
    status: 'answered',
    httpStatus,
    code: textMemberOf(body, 'code'),
    message: textMemberOf(body, 'msg') ?? '',
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    // No data: a page of a proxy, or half of an answer.
    return undefined
  }
}

/** How long to leave the venue alone. A ban without a time lasts two minutes at least. */
const holdOf = (status: number, retryAfter: string | null): number | null => {
  const fallbackMs = FALLBACK_MS[status]
  if (fallbackMs === undefined) return null
  const seconds = Number(retryAfter ?? Number.NaN)
  if (retryAfter === null || !Number.isFinite(seconds) || seconds < 0) return fallbackMs
  return Math.min(HOLD_MS_MAX, seconds * 1000)
}

const FALLBACK_MS: Readonly<Record<number, number>> = { 418: 120_000, 429: 10_000 }
const HOLD_MS_MAX = 3 * 86_400_000

/** Lists of markets have some megabytes. */
const BODY_BYTES_MAX = 64 * 1024 * 1024

const bodyOf = async (response: Response): Promise<string> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    if (bytes > BODY_BYTES_MAX) throw new Error('the answer is too long to be one')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
