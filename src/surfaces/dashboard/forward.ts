import type { IncomingMessage, ServerResponse } from 'node:http'
import { refuse } from './answer.ts'
import { callApi, type ApiLine } from './api.ts'

/** What the API may hear of the browser. The cookie and the origin stay here: the token says who asks. */
const REQUEST_HEADERS = [
  'accept',
  'content-length',
  'content-type',
  'idempotency-key',
  'last-event-id',
  'transfer-encoding',
  'x-request-id',
  'x-trace-id',
] as const

/** What the browser may hear of the API, besides our own headers. */
const ANSWER_HEADERS = [
  'allow',
  'cache-control',
  'content-length',
  'content-type',
  'deprecation',
  'idempotency-replayed',
  'retry-after',
  'sunset',
  'x-accel-buffering',
  'x-attribution-notice',
  'x-request-id',
] as const

export interface Forwarding {
  readonly line: ApiLine
  /** Null where the API asks for none. */
  readonly token: string | null
  /** A stream ends with the session that opened it; null = never. */
  readonly endsInMs: number | null
  /** Answers that never end by themselves. */
  readonly streams: Set<ServerResponse>
}

/** Hands a request to the API and its answer back, as both arrive. */
export const forward = (
  request: IncomingMessage,
  response: ServerResponse,
  { line, token, endsInMs, streams }: Forwarding,
): void => {
  const { method = 'GET', url = '/' } = request
  const call = callApi(line, { method, path: url, headers: headersFor(request, token) })
  let isAnswered = false
  const end = endsInMs === null ? null : setTimeout(() => response.destroy(), endsInMs)
  end?.unref()
  response.on('close', () => {
    if (end !== null) clearTimeout(end)
    streams.delete(response)
    // Nobody listens any more: the API need not go on.
    call.destroy()
  })
  call.on('error', () => {
    // An API that has answered need not read the rest of the body; how the answer ends is heard below.
    if (isAnswered) return
    request.resume()
    refuse(response, 'dashboard.api_unreachable', 'The API does not answer; try again in a moment')
  })
  call.on('response', (answer) => {
    isAnswered = true
    if (answer.headers['content-type']?.startsWith('text/event-stream') === true) streams.add(response)
    response.writeHead(answer.statusCode ?? 502, pick(answer.headers, ANSWER_HEADERS))
    response.flushHeaders()
    answer.on('end', () => request.resume())
    answer.on('error', () => response.destroy())
    answer.pipe(response)
  })
  request.pipe(call)
}

const headersFor = (request: IncomingMessage, token: string | null): Record<string, string> => {
  const bearer = latin1(operatorTokenOf(request.headers['x-operator-token']) ?? token)
  return {
    ...pick(request.headers, REQUEST_HEADERS),
    ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
  }
}

/** Percent-encoded by the page, since a browser sends no other than Latin-1 in a header. */
const operatorTokenOf = (header: string | string[] | undefined): string | null => {
  if (typeof header !== 'string' || header === '') return null
  try {
    return decodeURIComponent(header)
  } catch {
    // Not encoded, so taken as it is: the API says whether it is the right one.
    return header
  }
}

/** Header bytes are Latin-1 to Node; a token is UTF-8. */
const latin1 = (token: string | null): string | null =>
  token === null ? null : Buffer.from(token, 'utf8').toString('latin1')

const pick = (headers: IncomingMessage['headers'], names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name): [string, string][] => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
