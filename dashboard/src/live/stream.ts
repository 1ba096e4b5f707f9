import { API, ApiError } from '../api/client.ts'
import { readEvents } from '../api/queries.ts'
import type { EventItem, Session } from '../api/types.ts'

export type LineStatus =
  | 'connecting'
  | 'live'
  /** Lost; tried again by itself. */
  | 'reconnecting'
  /** The session is over: somebody has to sign in, here or in another tab. */
  | 'signed-out'

interface StreamListener {
  /** From which event on everything will be told: answers that are asked for from now on miss nothing. */
  readonly onBegin: () => void
  readonly onEvents: (events: readonly EventItem[]) => void
  readonly onStatus: (status: LineStatus) => void
  /** Something came, if only a sign of life. */
  readonly onAlive: () => void
}

/** The service speaks every 15 s at least; a line that is silent for three times as long is dead. */
const SILENCE_MS_MAX = 45_000
const RETRY_MS = [500, 1000, 2000, 4000] as const

/**
 * The one event stream of a page. It begins behind the event that was the newest when the page loaded, and goes on
 * behind the last one it saw, so nothing is missed; what is told twice is dropped.
 */
export const openStream = (listener: StreamListener): Stream => {
  let line = new AbortController()
  const nextLine = (): AbortSignal => {
    line = new AbortController()
    return line.signal
  }
  run(listener, nextLine).catch((error: unknown) => {
    // Only a mistake of ours ends the loop; the page then says that it is not live.
    listener.onStatus('reconnecting')
    throw error
  })
  return { renew: () => line.abort() }
}

export interface Stream {
  /** Drops the line and opens another: whoever may no longer read learns it then. */
  readonly renew: () => void
}

const run = async (listener: StreamListener, nextLine: () => AbortSignal): Promise<void> => {
  let lastId: string | null = null
  let failures = 0
  for (;;) {
    const dropped = nextLine()
    try {
      lastId ??= await newestId(dropped)
      listener.onBegin()
      const response = await connect(lastId, dropped)
      if (response.status === 401) throw new ApiError(401, {})
      if (!response.ok || response.body === null) throw new Error(`the stream answered ${response.status}`)
      failures = 0
      listener.onStatus('live')
      lastId = await listen(response.body, lastId, listener)
    } catch (error) {
      if (isSignedOut(error)) {
        listener.onStatus('signed-out')
        await nextSession()
        continue
      }
      failures += 1
    }
    listener.onStatus('reconnecting')
    await pause(RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 4000)
  }
}

const connect = (lastId: string | null, signal: AbortSignal): Promise<Response> =>
  fetch(`${API}/events/stream`, {
    headers: { accept: 'text/event-stream', ...(lastId === null ? {} : { 'last-event-id': lastId }) },
    signal,
  })

/** Until the line ends; returns the last id that was seen. */
const listen = async (
  body: ReadableStream<Uint8Array>,
  from: string | null,
  listener: StreamListener,
): Promise<string | null> => {
  let lastId = from
  let aliveAtMs = performance.now()
  const watchdog = setInterval(() => {
    if (performance.now() - aliveAtMs > SILENCE_MS_MAX) void body.cancel().catch(ignore)
  }, 5000)
  try {
    const onBytes = (): void => {
      aliveAtMs = performance.now()
      listener.onAlive()
    }
    for await (const messages of readMessages(body, onBytes)) {
      const fresh = messages.filter(({ id }) => id !== lastId)
      lastId = messages.at(-1)?.id ?? lastId
      if (fresh.length > 0) listener.onEvents(fresh.map(({ data }) => JSON.parse(data) as EventItem))
    }
  } catch {
    // A line that breaks is a line that ends: the loop above opens another behind the last id.
    return lastId
  } finally {
    clearInterval(watchdog)
  }
  return lastId
}

const newestId = async (signal: AbortSignal): Promise<string | null> => {
  const { items } = await readEvents({ limit: 1 }, signal)
  return items[0]?.id ?? null
}

const isSignedOut = (error: unknown): boolean => error instanceof ApiError && error.status === 401

/** A body that cannot be cancelled any more has ended already. */
const ignore = (): void => undefined

export interface SseMessage {
  readonly id: string
  readonly data: string
}

/**
 * Messages of an event stream as they arrive. Own code and not EventSource, since that one tells neither why it failed
 * nor that the line has gone mute: here every byte, comments too, calls `onBytes`.
 */
export const readMessages = async function* (
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<readonly SseMessage[]> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      onBytes()
      rest += decoder.decode(value, { stream: true })
      const blocks = rest.split('\n\n')
      rest = blocks.pop() ?? ''
      const messages = blocks.flatMap(messageOf)
      if (messages.length > 0) yield messages
    }
  } finally {
    reader.releaseLock()
  }
}

const messageOf = (block: string): readonly SseMessage[] => {
  let id = ''
  let data: string | null = null
  for (const line of block.split('\n')) {
    if (line.startsWith('id: ')) id = line.slice(4)
    if (line.startsWith('data: ')) data = (data === null ? '' : `${data}\n`) + line.slice(6)
  }
  return data === null ? [] : [{ id, data }]
}

const CHECK_MS = 2000

/**
 * Waits until somebody has signed in again, in whatever tab. The service is asked, not the API: a token that is not good
 * any more is not tried again and again.
 */
const nextSession = async (): Promise<void> => {
  const over = await readSession()
  for (;;) {
    await pause(CHECK_MS)
    const session = await readSession()
    if (session?.signed_in === true && session.expires_at !== (over?.expires_at ?? null)) return
  }
}

const readSession = async (): Promise<Session | null> => {
  try {
    return (await (await fetch('/session')).json()) as Session
  } catch {
    // Nobody answers: as good as nobody signed in, until it does.
    return null
  }
}

/** Waits, but not longer than until somebody looks at the page again: a page in the background is woken late. */
const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    document.addEventListener('visibilitychange', end)
  })
