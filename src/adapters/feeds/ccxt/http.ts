import type { Timer } from '../../../ports/timer.ts'
import { retryAfterMs } from './backoff.ts'
import { UnreadableAnswerError } from './values.ts'

type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface HttpDependencies {
  /** Ends every request. */
  readonly signal: AbortSignal
  readonly timer: Timer
  readonly timeoutMs: number
  /** The venue asks to be left alone. */
  readonly onRetryAfter: (waitMs: number) => void
}

/**
 * How the library reaches the network. Its own way ends neither when the feed stops nor while a body trickles in, and
 * tells only the newest of several answers' headers.
 */
export const createFetch = ({ signal, timer, timeoutMs, onRetryAfter }: HttpDependencies): Fetch => {
  const running = new Set<AbortController>()
  signal.addEventListener('abort', () => {
    for (const controller of running) controller.abort()
  })

  const ask = async (url: string, init: RequestInit): Promise<Response> => {
    const response = await fetch(url, init)
    const { ok, status, statusText, headers } = response
    const waitMs = LEAVE_ALONE.has(status) ? retryAfterMs(headers.get('retry-after'), timer.now()) : null
    if (waitMs !== null) onRetryAfter(waitMs)
    const text = await textOf(response)
    if (ok && !DATA.test(text)) throw new UnreadableAnswerError('the venue told something that is no data')
    return new Response(text === '' ? null : text, { status, statusText, headers })
  }

  return async (url, init) => {
    signal.throwIfAborted()
    const controller = new AbortController()
    running.add(controller)
    const timeout = timer.wait(timeoutMs, controller.signal).then(() => controller.abort())
    try {
      return await ask(url, { ...init, redirect: 'error', signal: controller.signal })
    } finally {
      controller.abort()
      await timeout
      running.delete(controller)
    }
  }
}

const LEAVE_ALONE: ReadonlySet<number> = new Set([418, 429, 503])

/** JSON by its first character. The library takes a page of HTML for an empty list. */
const DATA = /^\s*[[{"\d-]/

/** Whole lists of markets have some ten megabytes. */
const BODY_BYTES_MAX = 64 * 1024 * 1024

const textOf = async (response: Response): Promise<string> => {
  if (response.body === null) return ''
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    if (bytes > BODY_BYTES_MAX) throw new UnreadableAnswerError('the answer is too long to be one')
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
