import type { Readable } from 'node:stream'
import { redactText } from '../../../core/operations/redaction.ts'
import { isJsonObject } from '../../../core/shared/json-object.ts'
import type { Json, JsonObject } from '../../../core/shared/json.ts'
import { linesOf } from '../arguments.ts'
import type { DefineCommand, Invocation } from '../command.ts'
import { urlHost } from '../../own-host.ts'
import { settingsOf } from '../configuration.ts'
import { NotOwnServiceError, sendToOwnService, type ServiceAnswer } from '../own-service.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Connects an agent that speaks the Model Context Protocol on standard input and output, one message per line, to ' +
        'the running service: the one at SVC_API_BASE_URL with the token SVC_API_TOKEN, else the one of this home, which ' +
        'gets a token only after it has proved that it has the key of this home.',
    )
    .examples('svc mcp', 'SVC_API_BASE_URL=http://10.0.0.2:5050/api/v1 svc mcp')
    .runs(bridge)
}

/** The service takes no larger body either. */
const LINE_BYTES_MAX = 1024 * 1024

/** One after the other, so that a fast writer waits for the service and not in our memory. */
const bridge = async (invocation: Invocation): Promise<void> => {
  const service = await serviceOf(invocation)
  for await (const text of messagesIn(invocation.stdin, LINE_BYTES_MAX)) {
    const answer = text === null ? TOO_LONG : await forwardMessage(text, service)
    if (answer !== null) await invocation.print.asIs(`${JSON.stringify(answer)}\n`)
  }
}

/**
 * A token is sent to the service that the operator names, or to the one of this home. `data/service.json` and the port of
 * the settings say only where to ask: another program may listen there.
 */
const serviceOf = async (invocation: Invocation): Promise<McpService> => {
  const { SVC_API_BASE_URL: named, SVC_API_TOKEN: token } = invocation.environment
  if (named !== undefined && named !== '')
    return { baseUrl: withoutSlash(named), token: nonEmpty(token), send: fetchedFrom(withoutSlash(named)) }
  const { api } = await settingsOf(invocation)
  const running = await invocation.findService()
  const baseUrl = withoutSlash(running?.baseUrl ?? `http://${ownHost(api.host)}:${api.port}/api/v1`)
  const ownToken = nonEmpty(token) ?? nonEmpty(api.auth_token)
  if (ownToken === null) return { baseUrl, token: null, send: fetchedFrom(baseUrl) }
  const { public_key: publicKey } = await invocation.identity.describe()
  const own = { baseUrl, publicKey, signatures: invocation.signatures }
  return {
    baseUrl,
    token: ownToken,
    send: (body, headers) =>
      sendToOwnService(own, { method: 'POST', path: MCP_PATH, headers, body }, TIMEOUT_MS),
  }
}

const fetchedFrom =
  (baseUrl: string): McpService['send'] =>
  async (body, headers) => {
    const response = await fetch(baseUrl + MCP_PATH, {
      method: 'POST',
      headers,
      body,
      // A redirect would send the token to another host.
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    return { status: response.status, text: await response.text() }
  }

const MCP_PATH = '/mcp'

const withoutSlash = (url: string): string => url.replace(/\/+$/, '')

const nonEmpty = (text = ''): string | null => text.trim() || null

/** A service that listens everywhere is found here. */
const ownHost = (host: string): string => (host === '0.0.0.0' || host === '::' ? '127.0.0.1' : urlHost(host))

interface McpService {
  /** With the path prefix. */
  readonly baseUrl: string
  readonly token: string | null
  readonly send: (body: string, headers: Readonly<Record<string, string>>) => Promise<ServiceAnswer>
}

/** Sends one message to the service. Null for a message that has no answer; never rejects. */
const forwardMessage = async (text: string, service: McpService): Promise<JsonObject | null> => {
  const message = objectIn(text)
  const answer = await post(text, message, service)
  return hasNoAnswer(message) ? null : answer
}

/** An error of the bridge itself: JSON-RPC leaves this code to servers. */
const bridgeError = (id: Json, message: string, data: JsonObject = {}): JsonObject => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32_000, message, data },
})

const TOO_LONG = bridgeError(null, `a message must not be longer than ${LINE_BYTES_MAX} bytes`)

const TIMEOUT_MS = 60_000

const post = async (text: string, message: JsonObject, service: McpService): Promise<JsonObject> => {
  const id = message['id'] ?? null
  try {
    const headers = { 'content-type': 'application/json', ...headersOf(message), ...tokenHeader(service) }
    const answer = await service.send(text, headers)
    return answerOf(id, answer.status, answer.text)
  } catch (error) {
    const reason = reasonOf(error, service)
    return error instanceof NotOwnServiceError
      ? bridgeError(id, `no token was sent: ${reason}; ${NAME_IT}`)
      : bridgeError(id, `the service does not answer: ${reason}`)
  }
}

const NAME_IT = 'to send one all the same, set SVC_API_BASE_URL and SVC_API_TOKEN'

/** A JSON-RPC answer passes through; anything else becomes a JSON-RPC error. */
const answerOf = (id: Json, status: number, text: string): JsonObject => {
  const body = objectIn(text)
  if (body['jsonrpc'] === '2.0') return body
  const { code = null, detail } = body
  const reason = typeof detail === 'string' ? detail : 'a body that is not JSON-RPC'
  return bridgeError(id, `the service answered ${status}: ${reason}`, { status, code })
}

/** Over HTTP, the newest protocol revision repeats parts of the message in headers; on a pipe it does not. */
const headersOf = ({ method, params }: JsonObject): Readonly<Record<string, string>> => {
  const { _meta: meta, name } = membersOf(params)
  const revision = membersOf(meta)['io.modelcontextprotocol/protocolVersion']
  if (typeof revision !== 'string' || typeof method !== 'string') return {}
  return {
    'mcp-protocol-version': headerText(revision),
    'mcp-method': headerText(method),
    ...(typeof name === 'string' ? { 'mcp-name': headerText(name) } : {}),
  }
}

const PLAIN = /^[!-~](?:[ -~]*[!-~])?$/

/** Text that does not fit into a header is encoded as the protocol says. */
const headerText = (text: string): string =>
  PLAIN.test(text) && !text.startsWith('=?') ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`

const tokenHeader = ({ token }: McpService): Readonly<Record<string, string>> =>
  // Headers are sent as Latin-1, and the token is UTF-8.
  token === null ? {} : { authorization: `Bearer ${Buffer.from(token).toString('latin1')}` }

/** A notification, or a response to a request that the service never makes. */
const hasNoAnswer = (message: JsonObject): boolean =>
  Object.hasOwn(message, 'method')
    ? !Object.hasOwn(message, 'id')
    : Object.hasOwn(message, 'result') || Object.hasOwn(message, 'error')

/** Empty for what is not a JSON object: the service reports what is wrong with it. */
const objectIn = (text: string): JsonObject => {
  try {
    return membersOf(JSON.parse(text) as Json)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return {}
  }
}

const membersOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})

/** The error without the token, which some errors quote. */
const reasonOf = (error: unknown, { token }: McpService): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const first = cause instanceof AggregateError ? (cause.errors[0] as unknown) : cause
  const reason = first instanceof Error ? first.message : String(first)
  return redactText(reason, token === null ? [] : [token])
}

/** One message per line, as they arrive; blank lines are skipped. Null for one that is too long. */
export async function* messagesIn(input: Readable, bytesMax: number): AsyncGenerator<string | null> {
  for await (const line of linesOf(input, bytesMax)) {
    if (line === null || line.trim() !== '') yield line?.trim() ?? null
  }
}
