import { API, ApiError } from '../api/client.ts'
import type { EventItem, EventRecord, Session } from '../api/types.ts'

/** Status of the connection itself. Its reader detects silence. */
export type StreamStatus =
  | 'connecting'
  | 'live'
  /** The connection is lost. It is retried automatically. */
  | 'reconnecting'
  /** The session is over. The user must sign in, here or in another tab. */
  | 'signed-out'

export interface StreamHandlers {
  /** The position in the log is known. Queries from now on miss no event. */
  readonly onPosition: () => void
  readonly onEvents: (events: readonly EventItem[]) => void
  readonly onStatus: (status: StreamStatus) => void
  /** Called at most once a second when anything arrives, including keep-alives. */
  readonly onReceived: () => void
}

export interface Stream {
  /** Drops the connection and opens another one, which shows whether the session is still valid. */
  readonly reconnect: () => void
  /** Retries at once instead of after the pause. */
  readonly wake: () => void
  readonly close: () => void
}

/** The service sends something every 15 s. A connection that is silent for twice as long is dead. */
const SILENCE_MS_MAX = 30_000
/** Time limit for the response to a request for the stream. */
const ANSWER_MS_MAX = 10_000
const WATCHDOG_MS = 1000
const RECEIVED_MS_MIN = 1000
const RETRY_MS = [500, 1000, 2000, 4000] as const
const SESSION_CHECK_MS = 2000

/** Position of an event of the log that was received or read. */
type Position = Pick<EventItem, 'id' | 'seq'>

/** Position before the first event. */
const BEGINNING: Position = { id: '', seq: 0 }

/**
 * An event stream. It starts after the event that was the newest when it was opened, and resumes after the last event
 * received, so no event is missed. The service sends every event once and in order, but without its seq, which is
 * counted here.
 */
export const openStream = (handlers: StreamHandlers): Stream => {
  const line: Line = { connection: new AbortController(), isClosed: false, wake: () => undefined }
  run(handlers, line).catch((error: unknown) => {
    // Only a bug ends the loop. The page then shows that it is not live.
    handlers.onStatus('reconnecting')
    throw error
  })
  return {
    reconnect: () => line.connection.abort(),
    wake: () => line.wake(),
    close: () => {
      line.isClosed = true
      line.connection.abort()
      line.wake()
    },
  }
}

interface Line {
  connection: AbortController
  isClosed: boolean
  /** Ends the pause, if there is one. */
  wake: () => void
}

const run = async (handlers: StreamHandlers, line: Line): Promise<void> => {
  let position: Position | null = null
  let failures = 0
  while (!line.isClosed) {
    line.connection = new AbortController()
    const watchdog = watch(line.connection)
    try {
      position ??= await newestPosition(line.connection.signal)
      handlers.onPosition()
      const body = await openBody(position, line.connection.signal)
      watchdog.allow(SILENCE_MS_MAX)
      failures = 0
      handlers.onReceived()
      handlers.onStatus('live')
      position = await receive(body, position, handlers, watchdog)
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) {
        handlers.onStatus('signed-out')
        await nextSession(line)
        continue
      }
      failures += 1
    } finally {
      watchdog.end()
    }
    if (line.isClosed) return
    handlers.onStatus('reconnecting')
    await pause(RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 4000, line)
  }
}

interface Watchdog {
  /** Called when anything arrives. */
  readonly feed: () => void
  readonly allow: (silenceMs: number) => void
  readonly end: () => void
}

/**
 * Aborts a connection that is silent for too long. The request must be aborted: a body that is being read cannot be
 * canceled, and the body of a frozen service never ends.
 */
const watch = (connection: AbortController): Watchdog => {
  let allowedMs = ANSWER_MS_MAX
  let receivedAtMs = performance.now()
  const feed = (): void => void (receivedAtMs = performance.now())
  const timer = setInterval(() => {
    if (performance.now() - receivedAtMs > allowedMs) connection.abort()
  }, WATCHDOG_MS)
  return {
    feed,
    allow: (silenceMs) => {
      allowedMs = silenceMs
      feed()
    },
    end: () => clearInterval(timer),
  }
}

const newestPosition = async (signal: AbortSignal): Promise<Position> => {
  const response = await fetch(`${API}/events?limit=1`, { headers: { accept: 'application/json' }, signal })
  if (!response.ok) throw new ApiError(response.status, {})
  const { items } = (await response.json()) as { readonly items: readonly EventRecord[] }
  return items[0] ?? BEGINNING
}

const openBody = async ({ id }: Position, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> => {
  const response = await fetch(`${API}/events/stream`, {
    headers: { accept: 'text/event-stream', 'last-event-id': id },
    signal,
  })
  if (!response.ok || response.body === null) throw new ApiError(response.status, {})
  return response.body
}

/** Receives events until the connection ends. Returns the position after the last event. */
const receive = async (
  body: ReadableStream<Uint8Array>,
  from: Position,
  { onEvents, onReceived }: StreamHandlers,
  watchdog: Watchdog,
): Promise<Position> => {
  let last = from
  let reportedAtMs = performance.now()
  const onBytes = (): void => {
    watchdog.feed()
    if (performance.now() - reportedAtMs < RECEIVED_MS_MIN) return
    reportedAtMs = performance.now()
    onReceived()
  }
  try {
    for await (const messages of readMessages(body, onBytes)) {
      const events = messages.map((data, index) => eventOf(data, last.seq + 1 + index))
      last = events.at(-1) ?? last
      onEvents(events)
    }
  } catch {
    // A broken connection ends like any other: the loop above opens another one after the last event.
    return last
  }
  return last
}

const eventOf = (data: string, seq: number): EventItem => ({
  ...(JSON.parse(data) as Omit<EventItem, 'seq'>),
  seq,
})

/**
 * The data of the messages of an event stream as they arrive. EventSource is not used, because it reports neither why
 * it failed nor that the connection is silent. Every byte, including comments, calls `onBytes`.
 */
export const readMessages = async function* (
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<readonly string[]> {
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

const messageOf = (block: string): readonly string[] => {
  let data: string | null = null
  for (const line of block.split('\n')) {
    if (line.startsWith('data: ')) data = (data === null ? '' : `${data}\n`) + line.slice(6)
  }
  return data === null ? [] : [data]
}

/**
 * Waits for a new sign-in in any tab. Polls the dashboard's server, not the API: an invalid token is not sent again.
 */
const nextSession = async (line: Line): Promise<void> => {
  const over = await readSession()
  while (!line.isClosed) {
    await pause(SESSION_CHECK_MS, line)
    const session = await readSession()
    if (session?.signed_in === true && session.expires_at !== (over?.expires_at ?? null)) return
  }
}

const readSession = async (): Promise<Session | null> => {
  try {
    const response = await fetch('/session', { signal: AbortSignal.timeout(ANSWER_MS_MAX) })
    return (await response.json()) as Session
  } catch {
    // Without a response the user counts as signed out.
    return null
  }
}

const pause = (ms: number, line: Line): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      line.wake = () => undefined
      resolve()
    }
    const timer = setTimeout(end, ms)
    line.wake = end
  })
