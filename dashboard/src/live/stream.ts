import { API, ApiError } from '../api/client.ts'
import { readEvents } from '../api/queries.ts'
import type { EventItem, Session } from '../api/types.ts'

export type ConnectionStatus =
  | 'connecting'
  | 'live'
  /** Lost; retried automatically. */
  | 'reconnecting'
  /** The session is over: the user has to sign in, here or in another tab. */
  | 'signed-out'

interface StreamHandlers {
  /** The position in the log is known: what is queried from now on misses no event. */
  readonly onPosition: () => void
  readonly onEvents: (events: readonly EventItem[]) => void
  readonly onStatus: (status: ConnectionStatus) => void
}

export interface Stream {
  /** Drops the connection and opens another one, which finds out whether the session is still valid. */
  readonly reconnect: () => void
}

/** The service sends something every 15 s; a connection that is silent three times as long is dead. */
const SILENCE_MS_MAX = 45_000
const WATCHDOG_MS = 5000
const RETRY_MS = [500, 1000, 2000, 4000] as const
const SESSION_CHECK_MS = 2000

/** An event of the log that was received or read. */
type Position = Pick<EventItem, 'id' | 'seq'>

/** Before the first event. */
const BEGINNING: Position = { id: '', seq: 0 }

/**
 * The one event stream of a page. It starts after the event that was the newest when the page loaded and resumes after
 * the last one it received, so no event is missed. The service sends every event once and in order, but without its
 * seq: it is counted here.
 */
export const openStream = (handlers: StreamHandlers): Stream => {
  let connection = new AbortController()
  const nextConnection = (): AbortSignal => {
    connection = new AbortController()
    return connection.signal
  }
  run(handlers, nextConnection).catch((error: unknown) => {
    // Only a bug ends the loop; the page then shows that it is not live.
    handlers.onStatus('reconnecting')
    throw error
  })
  return { reconnect: () => connection.abort() }
}

const run = async (handlers: StreamHandlers, nextConnection: () => AbortSignal): Promise<void> => {
  let position: Position | null = null
  let failures = 0
  for (;;) {
    const signal = nextConnection()
    try {
      position ??= (await readEvents({ limit: 1 }, signal)).items[0] ?? BEGINNING
      handlers.onPosition()
      const response = await fetch(`${API}/events/stream`, {
        headers: { accept: 'text/event-stream', 'last-event-id': position.id },
        signal,
      })
      if (response.status === 401) throw new ApiError(401, {})
      if (!response.ok || response.body === null) throw new Error(`the stream answered ${response.status}`)
      failures = 0
      handlers.onStatus('live')
      position = await receive(response.body, position, handlers)
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) {
        handlers.onStatus('signed-out')
        await nextSession()
        continue
      }
      failures += 1
    }
    handlers.onStatus('reconnecting')
    await pause(RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 4000)
  }
}

/** Until the connection ends; returns the position after the last event. */
const receive = async (
  body: ReadableStream<Uint8Array>,
  from: Position,
  handlers: StreamHandlers,
): Promise<Position> => {
  let last = from
  let receivedAtMs = performance.now()
  const watchdog = setInterval(() => {
    // A body that cannot be canceled has ended already.
    if (performance.now() - receivedAtMs > SILENCE_MS_MAX) void body.cancel().catch(() => undefined)
  }, WATCHDOG_MS)
  try {
    for await (const messages of readMessages(body, () => (receivedAtMs = performance.now()))) {
      const events = messages.map(({ data }, index) => eventOf(data, last.seq + 1 + index))
      last = events.at(-1) ?? last
      handlers.onEvents(events)
    }
  } catch {
    // A broken connection ends like any other: the loop above opens another one after the last event.
    return last
  } finally {
    clearInterval(watchdog)
  }
  return last
}

const eventOf = (data: string, seq: number): EventItem => ({
  ...(JSON.parse(data) as Omit<EventItem, 'seq'>),
  seq,
})

export interface SseMessage {
  readonly id: string
  readonly data: string
}

/**
 * Messages of an event stream as they arrive. Not EventSource: it reports neither why it failed nor that the
 * connection went silent. Here every byte, comments included, calls `onBytes`.
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

/** Waits for a new sign-in in any tab. Asks the dashboard's server, not the API: an invalid token is not sent again. */
const nextSession = async (): Promise<void> => {
  const over = await readSession()
  for (;;) {
    await pause(SESSION_CHECK_MS)
    const session = await readSession()
    if (session?.signed_in === true && session.expires_at !== (over?.expires_at ?? null)) return
  }
}

const readSession = async (): Promise<Session | null> => {
  try {
    return (await (await fetch('/session')).json()) as Session
  } catch {
    // Without a response the user counts as signed out.
    return null
  }
}

/** Waits, but not beyond the moment the page becomes visible again: timers of hidden pages are throttled. */
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
