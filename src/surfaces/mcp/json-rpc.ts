import { echoedObject } from '../../core/shared/echo.ts'
import { isJsonObject } from '../../core/shared/json-object.ts'
import type { JsonObject } from '../../core/shared/json.ts'

export type RequestId = string | number

export interface RpcRequest {
  readonly id: RequestId
  readonly method: string
  /** Parameters as sent. Each method checks its own. */
  readonly params: unknown
}

export type Message =
  | { readonly kind: 'request'; readonly request: RpcRequest }
  /** A notification, or a response to a request that the server never sends. It gets no reply. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'invalid'; readonly id: RequestId | null; readonly detail: string }

export interface RpcError {
  readonly code: (typeof RPC_CODES)[keyof typeof RPC_CODES]
  readonly message: string
  readonly data?: JsonObject
}

/** Result of a method, before it is converted to the form of the caller's generation. */
export type MethodResult =
  | { readonly status: 'done'; readonly result: JsonObject; readonly effect: 'none' | 'read' | 'written' }
  | { readonly status: 'failed'; readonly error: RpcError }

export const RPC_CODES = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  headerMismatch: -32_020,
  unsupportedRevision: -32_022,
} as const

/** Kind of a parsed message. The protocol no longer has batches. */
export const readMessage = (value: unknown): Message => {
  if (!isJsonObject(value))
    return { kind: 'invalid', id: null, detail: 'the message must be one JSON object' }
  const id = usableId(value['id'])
  if (value['jsonrpc'] !== '2.0') return { kind: 'invalid', id, detail: 'jsonrpc must be "2.0"' }
  const { method } = value
  if (method === undefined && isResponse(value)) return { kind: 'silent' }
  if (typeof method !== 'string') return { kind: 'invalid', id, detail: 'method must be a string' }
  if (!Object.hasOwn(value, 'id')) return { kind: 'silent' }
  if (id === null) return { kind: 'invalid', id, detail: 'id must be a string or a whole number' }
  return { kind: 'request', request: { id, method, params: value['params'] } }
}

export const resultBody = (id: RequestId, result: JsonObject): JsonObject => ({ jsonrpc: '2.0', id, result })

export const errorBody = (id: RequestId | null, error: RpcError): JsonObject => ({
  jsonrpc: '2.0',
  id,
  error: {
    ...error,
    ...(error.data === undefined ? {} : { data: shownData(error.data) }),
  },
})

/** `faultsOf` creates `errors`, and shows only the parts of the input that may be shown. */
const shownData = ({ errors, ...others }: JsonObject): JsonObject => ({
  ...echoedObject(others),
  ...(errors === undefined ? {} : { errors }),
})

const usableId = (id: unknown): RequestId | null => {
  if (typeof id === 'string') return id.isWellFormed() ? id : null
  return Number.isSafeInteger(id) ? (id as number) : null
}

/** An error response to an unreadable request has no id. */
const isResponse = (value: JsonObject): boolean =>
  Object.hasOwn(value, 'result') ? usableId(value['id']) !== null : isJsonObject(value['error'])
