import { Agent as HttpAgent, request as requestHttp, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { isIPv6, type LookupFunction } from 'node:net'

const RESPONSE_BYTES_MAX = 1024 * 1024

export type FetchResult =
  | { readonly status: 'received'; readonly body: Uint8Array }
  /** The endpoint works and does not want us. */
  | { readonly status: 'denied'; readonly reason: string }
  | { readonly status: 'failed'; readonly reason: string }

export interface FetchRequest {
  readonly url: URL
  readonly host: string
  /** The only ones that are connected to, whatever the name means by then. */
  readonly addresses: readonly string[]
  /** Ends the conversation, wherever it is. */
  readonly signal: AbortSignal
}

/** One GET, without redirects. Rejects when the network or the other side breaks off. */
export const fetchResponse = async (wanted: FetchRequest): Promise<FetchResult> => {
  const response = await ask(wanted)
  const refusal = refusalOf(response)
  if (refusal === null) return bodyOf(response)
  response.destroy()
  return refusal
}

// No connection is kept: one that was opened earlier would lead to an address that is not checked now.
// The second address is tried after a second, not after the default quarter, which is too short for far hosts.
const CONNECTION = { keepAlive: false, autoSelectFamilyAttemptTimeout: 1000 } as const
const HTTP_AGENT = new HttpAgent(CONNECTION)
const HTTPS_AGENT = new HttpsAgent(CONNECTION)

const HEADERS = { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'signal-engine' }

const ask = ({ url, host, addresses, signal }: FetchRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const isSecure = url.protocol === 'https:'
    const options = {
      host,
      // Empty for the usual one, which the agent knows.
      port: url.port,
      path: `${url.pathname}${url.search}`,
      headers: HEADERS,
      lookup: alwaysTo(addresses),
      signal,
    }
    const request = isSecure
      ? requestHttps({ ...options, agent: HTTPS_AGENT })
      : requestHttp({ ...options, agent: HTTP_AGENT })
    // Stays for good: an error that comes after the response is that of a connection we closed.
    request.on('error', reject)
    request.on('response', resolve)
    // Some ends are silent: after a switch to another protocol there is neither an answer nor an error.
    request.on('close', () => reject(networkError('ECONNRESET')))
    request.end()
  })

/** In place of asking the name service a second time, which might then give another answer. */
const alwaysTo = (addresses: readonly string[]): LookupFunction => {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
  const [first] = found
  return (_hostname, { all = false }, callback) => {
    if (first === undefined) callback(networkError('ENOTFOUND'), '')
    else if (all) callback(null, found)
    else callback(null, first.address, first.family)
  }
}

const networkError = (code: string): Error => Object.assign(new Error(code), { code })

const refusalOf = ({ statusCode = 0, headers }: IncomingMessage): FetchResult | null => {
  if (statusCode === 401 || statusCode === 403) return { status: 'denied', reason: `HTTP ${statusCode}` }
  if (statusCode >= 300 && statusCode < 400) {
    return failed(`HTTP ${statusCode}: redirects are not followed`)
  }
  if (statusCode < 200 || statusCode >= 300) return failed(`HTTP ${statusCode}`)
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== undefined && !JSON_TYPE.test(type))
    return failed('the content type of the response is not JSON')
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') return failed('the response is compressed, which was not asked for')
  return Number(headers['content-length'] ?? 0) > RESPONSE_BYTES_MAX ? TOO_LARGE : null
}

const JSON_TYPE = /^(?:application|text)\/(?:[\w.+-]+\+)?json$/

const bodyOf = async (response: IncomingMessage): Promise<FetchResult> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    // Leaving the loop closes the connection.
    if (bytes > RESPONSE_BYTES_MAX) return TOO_LARGE
    chunks.push(chunk)
  }
  return response.complete
    ? { status: 'received', body: Buffer.concat(chunks) }
    : failed('the response broke off')
}

const failed = (reason: string): FetchResult => ({ status: 'failed', reason })

const TOO_LARGE = failed(`the response is larger than ${RESPONSE_BYTES_MAX} bytes`)
