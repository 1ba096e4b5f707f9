import { TOKEN, type RunningService, type Variables } from './service.ts'

export interface Message {
  readonly id: string
  readonly type: string
  readonly ts: string
  readonly source: string | null
  readonly payload: Readonly<Record<string, unknown>>
}

/** A client of the event stream. It takes nothing off the wire but while `until` waits. */
export interface Listener {
  readonly status: number
  readonly headers: Headers
  /** Everything that came, in order. */
  readonly lines: readonly string[]
  readonly messages: readonly Message[]
  /** Fails if the stream ends before it is true. */
  until(isTrue: () => boolean): Promise<void>
  /** Hangs up. */
  close(): void
}

export const listen = async (
  { baseUrl }: RunningService,
  query = '',
  headers: Variables = {},
): Promise<Listener> => {
  const hangUp = new AbortController()
  const response = await fetch(`${baseUrl}/events/stream${query}`, {
    headers: { authorization: `Bearer ${TOKEN}`, ...headers },
    signal: hangUp.signal,
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  const lines: string[] = []
  const messages: Message[] = []
  let rest = ''
  const take = (line: string): void => {
    lines.push(line)
    if (line.startsWith('data: ')) messages.push(JSON.parse(line.slice('data: '.length)) as Message)
  }
  return {
    status: response.status,
    headers: response.headers,
    lines,
    messages,
    until: async (isTrue) => {
      while (!isTrue()) {
        const part = await reader?.read()
        if (part?.value === undefined) throw new Error(`the stream ended after ${lines.length} lines`)
        const parts = (rest + part.value).split('\n')
        rest = parts.pop() ?? ''
        parts.forEach(take)
      }
    },
    close: () => hangUp.abort(),
  }
}
