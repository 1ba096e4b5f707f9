import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
  type ServerResponse,
} from 'node:http'
import { cutUnread } from '../cut-unread.ts'
import { refuse } from './responses.ts'

/** Request headers that are forwarded. Cookie and origin are not: the token identifies the user. */
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

/** Response headers that are forwarded, besides the dashboard's own. */
const RESPONSE_HEADERS = [
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

interface Forwarding {
  readonly api: ApiConnection
  /** Null where the API needs none. */
  readonly token: string | null
  /** A stream ends with the session that opened it; null = never. */
  readonly endsInMs: number | null
  readonly sessionId: string | null
  /** Open event streams, with the session that opened each. */
  readonly streams: Map<ServerResponse, string | null>
}

/** Streams a request to the API and the response back. */
export const forward = (
  request: IncomingMessage,
  response: ServerResponse,
  { api, token, endsInMs, sessionId, streams }: Forwarding,
): void => {
  const { method = 'GET', url = '/' } = request
  const asked = { method, path: url, headers: headersFor(request, token) }
  // Only what can be asked twice is sent over a connection that the API may be closing at that moment.
  let call = callApi(api, asked, { isNew: !isRepeatable(request) })
  let isAnswered = false
  const end = endsInMs === null ? null : setTimeout(() => response.destroy(), endsInMs)
  end?.unref()
  response.on('close', () => {
    if (end !== null) clearTimeout(end)
    streams.delete(response)
    // The browser is gone: cancel the request.
    call.destroy()
  })
  const onError = (): void => {
    // After a response the API may stop reading the body; errors of the response are handled below.
    if (isAnswered || response.destroyed) return
    if (call.reusedSocket) {
      call = begun(callApi(api, asked, { isNew: true }))
      call.end()
      return
    }
    request.resume()
    refuse(response, 'dashboard.api_unreachable', 'The API does not answer; try again in a moment')
  }
  const onAnswer = (answer: IncomingMessage): void => {
    isAnswered = true
    if (answer.headers['content-type']?.startsWith('text/event-stream') === true)
      streams.set(response, sessionId)
    else cutUnread(response)
    response.writeHead(answer.statusCode ?? 502, pick(answer.headers, RESPONSE_HEADERS))
    response.flushHeaders()
    answer.on('end', () => request.resume())
    answer.on('error', () => response.destroy())
    answer.pipe(response)
  }
  const begun = (made: ClientRequest): ClientRequest => made.on('error', onError).on('response', onAnswer)
  request.pipe(begun(call))
}

/** Asked again, it changes nothing; and nothing of it was consumed. */
const isRepeatable = ({ method, headers }: IncomingMessage): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  headers['content-length'] === undefined &&
  headers['transfer-encoding'] === undefined

const headersFor = (request: IncomingMessage, token: string | null): Record<string, string> => {
  const operatorToken = operatorTokenOf(request.headers['x-operator-token'])
  const bearer = latin1(operatorToken ?? token)
  return {
    ...pick(request.headers, REQUEST_HEADERS),
    // The access key of a session is no operator: each operator action asks for it again.
    ...(operatorToken === null ? { 'x-act-without': 'operate' } : {}),
    ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
  }
}

/** Percent-encoded by the page: browsers send only Latin-1 in headers. */
const operatorTokenOf = (header: string | string[] | undefined): string | null => {
  if (typeof header !== 'string' || header === '') return null
  try {
    const token = decodeURIComponent(header)
    return isHeaderText(token) ? token : header
  } catch {
    // Not encoded: used as it is, the API checks it.
    return header
  }
}

/** No token holds a control character, and no header can: Node throws at it. */
const isHeaderText = (token: string): boolean =>
  // oxlint-disable-next-line no-control-regex
  !/[\u0000-\u001f\u007f]/.test(token)

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

/** Address and connection pool of the API. */
export interface ApiConnection {
  readonly url: URL
  readonly agent: Agent
}

export const openApiConnection = (apiUrl: string): ApiConnection => {
  const url = new URL(apiUrl)
  // The wildcard address cannot be called.
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  if (url.hostname === '[::]') url.hostname = '[::1]'
  return { url, agent: new Agent({ keepAlive: true }) }
}

interface ApiCall {
  readonly method: string
  /** With the prefix. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

const callApi = (
  { url, agent }: ApiConnection,
  { method, path, headers }: ApiCall,
  { isNew = false } = {},
): ClientRequest =>
  httpRequest({
    host: url.hostname.replaceAll(/[[\]]/g, ''),
    port: url.port,
    agent: isNew ? false : agent,
    method,
    path,
    headers,
  })

type TokenCheck =
  | 'valid'
  | 'invalid'
  /** An access key without the right to read, which the dashboard needs. */
  | 'unreadable'
  | 'unreachable'

const CHECKS: ReadonlyMap<number | undefined, TokenCheck> = new Map([
  [200, 'valid'],
  // The API knows a caller whom it asks to wait.
  [429, 'valid'],
  [401, 'invalid'],
  [403, 'unreadable'],
])

/** Checks a token with a protected endpoint of the API. */
export const checkToken = (api: ApiConnection, token: string, timeoutMs: number): Promise<TokenCheck> =>
  new Promise((resolve) => {
    if (!isHeaderText(token)) return resolve('invalid')
    const path = `${api.url.pathname}/brain/status`
    const headers = { authorization: `Bearer ${Buffer.from(token, 'utf8').toString('latin1')}` }
    const call = callApi(api, { method: 'GET', path, headers }, { isNew: true })
    call.setTimeout(timeoutMs, () => call.destroy(new Error('API timeout')))
    call.on('error', () => resolve('unreachable'))
    call.on('response', (answer) => {
      answer.resume()
      resolve(CHECKS.get(answer.statusCode) ?? 'unreachable')
    })
    call.end()
  })
