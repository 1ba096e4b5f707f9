import { redactText } from '../../core/operations/redaction.ts'
import { isJsonObject } from '../../core/shared/json-object.ts'
import type { Json, JsonObject } from '../../core/shared/json.ts'

export interface McpService {
  /** With the path prefix. */
  readonly baseUrl: string
  readonly token: string | null
}

/** Carries one message to the service. Null where nobody waits for an answer; never rejects. */
export const carryMessage = async (text: string, service: McpService): Promise<JsonObject | null> => {
  const message = objectIn(text)
  const answer = await post(text, message, service)
  return isSilent(message) ? null : answer
}

/** What the bridge itself has to say: JSON-RPC leaves this code to servers. */
export const bridgeError = (id: Json, message: string, data: JsonObject = {}): JsonObject => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32_000, message, data },
})

const TIMEOUT_MS = 60_000

const post = async (text: string, message: JsonObject, service: McpService): Promise<JsonObject> => {
  const id = message['id'] ?? null
  try {
    const response = await fetch(`${service.baseUrl.replace(/\/+$/, '')}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headersOf(message), ...tokenHeader(service) },
      body: text,
      // A redirect would carry the token to somebody else.
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    return answerOf(id, response.status, await response.text())
  } catch (error) {
    return bridgeError(id, `the service does not answer: ${reasonOf(error, service)}`)
  }
}

/** An answer of the protocol goes through; anything else is told in its words. */
const answerOf = (id: Json, status: number, text: string): JsonObject => {
  const body = objectIn(text)
  if (body['jsonrpc'] === '2.0') return body
  const { code = null, detail } = body
  const reason = typeof detail === 'string' ? detail : 'something that is no answer to a message'
  return bridgeError(id, `the service answered ${status}: ${reason}`, { status, code })
}

/** Over HTTP, callers of the newest revision say beside each message what stands in it; on a pipe they need not. */
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

/** What does not fit into a header is wrapped, as the protocol has it. */
const headerText = (text: string): string =>
  PLAIN.test(text) && !text.startsWith('=?') ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`

const tokenHeader = ({ token }: McpService): Readonly<Record<string, string>> =>
  // Headers are sent as Latin-1, and the token is UTF-8.
  token === null ? {} : { authorization: `Bearer ${Buffer.from(token).toString('latin1')}` }

/** A notification, or the answer to a question that the service never asks. */
const isSilent = (message: JsonObject): boolean =>
  Object.hasOwn(message, 'method')
    ? !Object.hasOwn(message, 'id')
    : Object.hasOwn(message, 'result') || Object.hasOwn(message, 'error')

/** Empty for what is no JSON object: the service says what is wrong with it. */
const objectIn = (text: string): JsonObject => {
  try {
    return membersOf(JSON.parse(text) as Json)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return {}
  }
}

const membersOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})

/** Why nothing came back. Some of these quote what was to be sent. */
const reasonOf = (error: unknown, { token }: McpService): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const first = cause instanceof AggregateError ? (cause.errors[0] as unknown) : cause
  const reason = first instanceof Error ? first.message : String(first)
  return redactText(reason, token === null ? [] : [token])
}
