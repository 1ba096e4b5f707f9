import { get, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { TOKEN } from '../test-server.fixture.ts'

export interface ConnectOptions {
  readonly domain?: string
  readonly since?: string
  readonly lastEventId?: string
  readonly token?: string
}

export interface Message {
  readonly id: string
  readonly data: {
    readonly id: string
    readonly type: string
    readonly ts: string
    readonly source: string | null
    readonly payload: Readonly<Record<string, unknown>>
  }
}

/** A client of the stream that reads line by line, as the format of server-sent events demands. */
export interface TestClient {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Every line that arrived, in order. */
  readonly lines: readonly string[]
  readonly messages: readonly Message[]
  /** Resolves as soon as it is true; rejects if the stream ends before. */
  until(isTrue: () => boolean): Promise<void>
  /** Evaluates what `until` waits for again, if it depends on more than the stream. */
  recheck(): void
  pause(): void
  resume(): void
  /** Closes the connection. */
  close(): void
  /** How it ended: with the end of the response, or without. */
  readonly ended: Promise<'ended' | 'cut'>
}

export const connectClient = async (
  { baseUrl }: { readonly baseUrl: string },
  { domain, since, lastEventId, token = TOKEN }: ConnectOptions = {},
): Promise<TestClient> => {
  const url = new URL(`${baseUrl}/events/stream`)
  if (domain !== undefined) url.searchParams.set('domain', domain)
  if (since !== undefined) url.searchParams.set('since', since)
  const headers = {
    authorization: `Bearer ${token}`,
    ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
  }
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers, agent: false }, resolve).on('error', reject)
  })
  return follow(response)
}

const follow = (response: IncomingMessage): TestClient => {
  const lines: string[] = []
  const messages: Message[] = []
  const waiting = new Set<() => void>()
  const notify = (): void => waiting.forEach((check) => check())
  let rest = ''
  let fields = new Map<string, string>()
  const read = (line: string): void => {
    lines.push(line)
    const [, name = '', value = ''] = /^(\w+): (.*)$/.exec(line) ?? []
    if (line !== '') fields.set(name, value)
    else {
      const data = fields.get('data')
      if (data !== undefined)
        messages.push({ id: fields.get('id') ?? '', data: JSON.parse(data) as Message['data'] })
      fields = new Map()
    }
  }
  response.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop() ?? ''
    parts.forEach(read)
    notify()
  })
  // A cut connection is an error to Node; here it is one of the ways in which a stream ends.
  response.on('error', () => undefined)
  const ended = new Promise<'ended' | 'cut'>((resolve) => {
    response.on('close', () => {
      resolve(response.complete ? 'ended' : 'cut')
      notify()
    })
  })
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    lines,
    messages,
    until: (isTrue) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const isDone = isTrue()
          if (!isDone && !response.closed) return
          waiting.delete(check)
          if (isDone) resolve()
          else reject(new Error(`the stream ended after ${messages.length} messages`))
        }
        waiting.add(check)
        check()
      }),
    recheck: notify,
    pause: () => response.pause(),
    resume: () => response.resume(),
    close: () => response.destroy(),
    ended,
  }
}
