import type { Readable } from 'node:stream'
import { redactText } from '../../../core/operations/redaction.ts'
import { isJsonObject } from '../../../core/shared/json-object.ts'
import type { Json, JsonObject } from '../../../core/shared/json.ts'
import { linesOf } from '../arguments.ts'
import type { DefineCommand, Invocation } from '../command.ts'
import { settingsOf } from '../configuration.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Connects an agent that speaks the Model Context Protocol on standard input and output, one message per line, to ' +
        'the running service: the one at SVC_API_BASE_URL with the token SVC_API_TOKEN, else the one of this home.',
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

/** The token of this home is sent only to the service of this home. */
const serviceOf = async (invocation: Invocation): Promise<McpService> => {
  const { SVC_API_BASE_URL: baseUrl, SVC_API_TOKEN: token } = invocation.environment
  if (baseUrl !== undefined && baseUrl !== '') return { baseUrl, token: nonEmpty(token) }
  const { api } = await settingsOf(invocation)
  const running = await invocation.findService()
  return {
    baseUrl: running?.baseUrl ?? `http://${urlHost(api.host)}:${api.port}/api/v1`,
    token: nonEmpty(token) ?? nonEmpty(api.auth_token),
  }
}

const nonEmpty = (text = ''): string | null => text.trim() || null

/** A service that listens everywhere is found here; an IPv6 address stands in brackets. */
const urlHost = (host: string): string => {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

interface McpService {
  /** With the path prefix. */
  readonly baseUrl: string
  readonly token: string | null
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
    const response = await fetch(`${service.baseUrl.replace(/\/+$/, '')}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headersOf(message), ...tokenHeader(service) },
      body: text,
      // A redirect would send the token to another host.
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    return answerOf(id, response.status, await response.text())
  } catch (error) {
    return bridgeError(id, `the service does not answer: ${reasonOf(error, service)}`)
  }
}

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
