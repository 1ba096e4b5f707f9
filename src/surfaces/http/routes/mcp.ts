import { z } from 'zod'
import { URGENT_TOOLS } from '../../../core/views/capabilities.ts'
import { sentenceOf } from '../../../core/shared/faults.ts'
import type { KillSwitchLevel } from '../../../core/shared/level.ts'
import { yieldToEventLoop } from '../../../ports/yield-to-event-loop.ts'
import { mayDo, type Caller } from '../../caller.ts'
import type { McpBody, McpReply } from '../../mcp-exchange.ts'
import { ok, okEmpty, type Success } from '../results.ts'
import { route, routes } from '../route.ts'
import { SHORT_BYTES_MAX } from '../request-body.ts'
import { BODY_DEPTH_MAX, parseInTurns, parseStrictJson, type StrictJson } from '../strict-json.ts'

const requestId = z.union([z.string(), z.int()])

const message = z.custom<Uint8Array>().meta({
  type: 'object',
  additionalProperties: true,
  description: 'one JSON-RPC 2.0 message: a request, a notification or a response',
  examples: [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }],
})

const response = z
  .union([
    z.object({ jsonrpc: z.literal('2.0'), id: requestId, result: z.looseObject({}) }),
    z.object({
      jsonrpc: z.literal('2.0'),
      id: requestId.nullable(),
      error: z.object({ code: z.int(), message: z.string(), data: z.looseObject({}).optional() }),
    }),
  ])
  .meta({ id: 'JsonRpcResponse' })

const header = (description: string) => z.string().optional().meta({ description })

const rpcError = (id: number | null, code: number, text: string) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message: text },
})

// The framework lists headers by their names in lower case.
const headers = z.object({
  'mcp-protocol-version': header('the revision that the message is written in'),
  'mcp-method': header('the method of the message, for callers of revision 2026-07-28'),
  'mcp-name': header('the name of the called tool, for callers of revision 2026-07-28'),
})

export const mcpRoutes = routes('Agents', {
  postMcpMessage: route('POST', '/mcp', 'any', {
    // Each tool declares what it needs; the audit counts a message that is not let in as a write.
    action: 'write',
    refusesForeignOrigins: true,
    summary: 'Model Context Protocol, stateless, one JSON response per message',
    description:
      'Revisions 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26 and 2024-11-05. Errors are those of JSON-RPC, with ' +
      'status 200, or 400 and 404 where the protocol asks for it; notifications and responses are answered with 202 ' +
      'and nothing. Web pages may call only from this host or from an origin in `api.cors_origins`.',
    headers,
    body: message,
    bodyIsRaw: true,
    isUrgent: ({ body }) => callsUrgentTool(body),
    reducesRisk: ({ body, caller }, { engine }) =>
      reducesRisk(body, caller, engine.state.trading.killSwitch.level),
    response,
    example: { jsonrpc: '2.0', id: 1, result: { tools: [] } },
    otherResponses: [
      { status: 202, description: 'A notification or a response was accepted', content: null },
      {
        status: 400,
        description: 'The message is not JSON-RPC 2.0, or its headers and its revision do not fit it',
        content: { schema: response, example: rpcError(null, -32_700, 'Parse error') },
      },
      {
        status: 404,
        description: 'No such method, for callers of revision 2026-07-28',
        content: { schema: response, example: rpcError(1, -32_601, 'Method not found') },
      },
    ],
    problems: ['cors.origin_denied'],
    handler: async ({ body, headers: named, traceId, requestId: id, caller }, { mcp }) =>
      resultOf(
        await mcp({
          body: await parsedInTurns(body),
          headers: {
            protocolVersion: headerOrNull(named['mcp-protocol-version']),
            method: headerOrNull(named['mcp-method']),
            name: headerOrNull(named['mcp-name']),
          },
          traceId,
          requestId: id,
          caller,
        }),
      ),
  }),
})

/** The arguments of a call are nested two levels deeper than the members of a body, and hold the same payloads. */
const MESSAGE_DEPTH_MAX = BODY_DEPTH_MAX + 2

const bodyOf = (parsed: StrictJson): McpBody => {
  switch (parsed.status) {
    case 'parsed':
    case 'malformed':
      return parsed
    case 'oversized':
      return { status: 'oversized', detail: `the message ${parsed.faults.map(({ msg }) => msg).join('; ')}` }
    case 'invalid': {
      const detail = parsed.faults.slice(0, FAULTS_IN_MESSAGE).map(sentenceOf).join('; ')
      return { status: 'invalid', value: parsed.value, detail }
    }
  }
}

const FAULTS_IN_MESSAGE = 10

const parsedBodies = new WeakMap<Uint8Array, McpBody>()

/** Parsed once, however many ask: first for the urgency, then for the message itself. */
const parsedBody = (bytes: Uint8Array): McpBody => {
  const parsed = parsedBodies.get(bytes) ?? bodyOf(parseStrictJson(bytes, MESSAGE_DEPTH_MAX))
  parsedBodies.set(bytes, parsed)
  return parsed
}

/** A long message in steps, between which the event loop runs. */
const parsedInTurns = async (bytes: Uint8Array): Promise<McpBody> =>
  bytes.length <= SHORT_BYTES_MAX || parsedBodies.has(bytes)
    ? parsedBody(bytes)
    : bodyOf(await parseInTurns(bytes, yieldToEventLoop, MESSAGE_DEPTH_MAX))

/** Most messages name no such tool anywhere and need not be parsed for this. */
const callsUrgentTool = (bytes: Uint8Array): boolean => {
  // No call of such a tool is long.
  if (bytes.length > SHORT_BYTES_MAX) return false
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!URGENT_TOOLS.some((name) => text.includes(name))) return false
  const name = calledTool(bytes)
  return URGENT_TOOLS.some((urgent) => urgent === name)
}

const calledTool = (bytes: Uint8Array): string | undefined => {
  const body = parsedBody(bytes)
  return body.status === 'parsed' ? toolCall.safeParse(body.value).data?.params.name : undefined
}

const toolCall = z.object({ method: z.literal('tools/call'), params: z.object({ name: z.string() }) })

const killSwitchCall = z.object({
  params: z.object({ name: z.literal('set_kill_switch'), arguments: z.object({ level: z.number() }) }),
})

/**
 * Urgent tools reduce risk, with two exceptions: a call that lowers the kill switch, and a denied call, because its
 * denial is stored.
 */
const reducesRisk = (bytes: Uint8Array, caller: Caller, level: KillSwitchLevel): boolean => {
  if (!callsUrgentTool(bytes)) return false
  if (calledTool(bytes) !== 'set_kill_switch') return mayDo(caller, 'operator')
  if (!mayDo(caller, 'control')) return false
  const body = parsedBody(bytes)
  const { data } = killSwitchCall.safeParse(body.status === 'parsed' ? body.value : null)
  return data !== undefined && data.params.arguments.level > level
}

/** An empty header counts as absent. */
const headerOrNull = (value: string | undefined): string | null =>
  value === undefined || value === '' ? null : value

/** A message that changed nothing is not audited as a write. */
const resultOf = ({ status, body, effect }: McpReply): Success<z.input<typeof response>> => {
  const options = {
    status,
    unchanged: effect !== 'written',
    action: effect === 'read' ? 'read' : 'write',
  } as const
  return body === null ? okEmpty(options) : ok(body as z.input<typeof response>, options)
}
