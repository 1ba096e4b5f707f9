import type { McpEndpoint, McpPost, McpReply } from '../mcp-exchange.ts'
import { recogniseCaller } from './callers.ts'
import type { McpDependencies } from './dependencies.ts'
import {
  errorBody,
  readMessage,
  resultBody,
  RPC_CODES,
  type RequestId,
  type RpcError,
  type RpcRequest,
} from './json-rpc.ts'
import type { Answered } from './answered.ts'
import { methodNamed, serverInfo, type Method } from './methods.ts'
import { errorDetailOf } from './errors.ts'

/**
 * Stateless: every message is answered from itself, in the words of the generation that it speaks, with one JSON
 * body. The reference server answers several of these cases otherwise than our clients are promised (invalid
 * arguments, discovery, streams), so the protocol is spoken here; the reference client is what tests it.
 */
export const createMcpEndpoint =
  (house: McpDependencies): McpEndpoint =>
  async (post) => {
    const { body } = post
    if (body.status === 'malformed') {
      return refusal(400, null, { code: RPC_CODES.parseError, message: body.detail })
    }
    const message = readMessage(body.value)
    switch (message.kind) {
      case 'silent':
        return NOTHING_TO_SAY
      case 'invalid':
        return refusal(400, message.id, { code: RPC_CODES.invalidRequest, message: message.detail })
      case 'request':
        return body.status === 'invalid'
          ? refusal(200, message.request.id, { code: RPC_CODES.invalidParams, message: body.detail })
          : answer(message.request, post, house)
    }
  }

const NOTHING_TO_SAY: McpReply = { status: 202, body: null, effect: 'none' }

const answer = async (request: RpcRequest, post: McpPost, house: McpDependencies): Promise<McpReply> => {
  const { id, method: name } = request
  const caller = recogniseCaller(request, post.headers)
  if (caller.status === 'refused') return refusal(400, id, caller.error)
  const { generation } = caller
  const method = methodNamed(name, generation)
  if (method === null) {
    const error = { code: RPC_CODES.methodNotFound, message: 'There is no such method' }
    return refusal(generation === 'modern' ? 404 : 200, id, error)
  }
  const answered = await attempt(method, request, post, house)
  if (answered.status === 'failed') return refusal(200, id, answered.error)
  const said = generation === 'modern' ? modern(answered, method, house) : answered
  return { status: 200, body: resultBody(id, said.result), effect: said.effect }
}

/** What breaks is told in the protocol's words, without a word of what broke; the log has that. */
const attempt = async (
  method: Method,
  { method: name, params }: RpcRequest,
  { traceId, requestId, mayOperate }: McpPost,
  house: McpDependencies,
): Promise<Answered> => {
  try {
    return await method.answer(params, { house, traceId, requestId, mayOperate })
  } catch (error) {
    house.logger.error('an MCP request failed', { request_id: requestId, method: name, error })
    return { status: 'failed', error: { code: RPC_CODES.internalError, message: errorDetailOf(error) } }
  }
}

type Done = Extract<Answered, { status: 'done' }>

const KEEP_MS = 60_000

/** Modern results say that they are whole, who speaks, and how long they may be kept. */
const modern = (done: Done, { mayBeKept }: Method, { version }: McpDependencies): Done => ({
  ...done,
  result: {
    ...done.result,
    resultType: 'complete',
    ...(mayBeKept === true ? { ttlMs: KEEP_MS, cacheScope: 'private' } : {}),
    _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo(version) },
  },
})

const refusal = (status: number, id: RequestId | null, error: RpcError): McpReply => ({
  status,
  body: errorBody(id, error),
  effect: 'none',
})
