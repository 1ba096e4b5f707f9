import { isJsonObject } from '../../core/shared/json-object.ts'
import type { JsonObject } from '../../core/shared/json.ts'
import type { McpHeaders } from '../mcp-exchange.ts'
import { RPC_CODES, type RpcError, type RpcRequest } from './json-rpc.ts'

/** The revision without a handshake: every request names its revision itself. */
const MODERN_REVISION = '2026-07-28'

/** Revisions that begin with `initialize`, newest first. */
const HANDSHAKE_REVISIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const

export const SUPPORTED_REVISIONS: readonly string[] = [MODERN_REVISION, ...HANDSHAKE_REVISIONS]

/** The revision for a caller that begins with `initialize`: the one it asks for, else the newest. */
export const revisionFor = (wanted: unknown): string =>
  HANDSHAKE_REVISIONS.find((revision) => revision === wanted) ?? HANDSHAKE_REVISIONS[0]

/** `handshake` callers begin with `initialize`, or without it: there is no session that would know. */
export type Generation = 'modern' | 'handshake'

export type CallerResult =
  | { readonly status: 'known'; readonly generation: Generation }
  /** HTTP 400: headers and message contradict each other, or the revision is not supported. */
  | { readonly status: 'refused'; readonly error: RpcError }

export const REVISION_MEMBER = 'io.modelcontextprotocol/protocolVersion'
export const CAPABILITIES_MEMBER = 'io.modelcontextprotocol/clientCapabilities'

/** The generation of the caller, and whether the headers agree with the message. */
export const identifyCaller = (request: RpcRequest, headers: McpHeaders): CallerResult => {
  const meta = metaOf(request)
  if (Object.hasOwn(meta, REVISION_MEMBER) || headers.protocolVersion === MODERN_REVISION) {
    const error = modernFault(request, meta, headers)
    return error === null ? { status: 'known', generation: 'modern' } : { status: 'refused', error }
  }
  const { protocolVersion } = headers
  const isUnknown = protocolVersion !== null && !SUPPORTED_REVISIONS.includes(protocolVersion)
  // Before the handshake the caller cannot know which revision to name.
  if (isUnknown && request.method !== 'initialize') {
    return { status: 'refused', error: unsupported(protocolVersion) }
  }
  return { status: 'known', generation: 'handshake' }
}

/** In the order of the reference implementation: first the message, then whether headers contradict it. */
const modernFault = (
  { method, params }: RpcRequest,
  meta: JsonObject,
  headers: McpHeaders,
): RpcError | null => {
  const revision = meta[REVISION_MEMBER]
  if (typeof revision !== 'string') return badMeta(REVISION_MEMBER, 'a string')
  if (!isJsonObject(meta[CAPABILITIES_MEMBER])) return badMeta(CAPABILITIES_MEMBER, 'an object')
  if (headers.protocolVersion !== null && headers.protocolVersion !== revision) {
    return mismatch('MCP-Protocol-Version', headers.protocolVersion, revision)
  }
  if (headers.method !== null && headers.method !== method) {
    return mismatch('Mcp-Method', headers.method, method)
  }
  if (revision !== MODERN_REVISION) return unsupported(revision)
  if (headers.protocolVersion === null) return mismatch('MCP-Protocol-Version', null, revision)
  if (headers.method === null) return mismatch('Mcp-Method', null, method)
  return method === 'tools/call' ? nameFault(params, headers.name) : null
}

/** A call without a name is refused later, like every call with invalid parameters. */
const nameFault = (params: unknown, header: string | null): RpcError | null => {
  const name = isJsonObject(params) ? params['name'] : undefined
  // A header that cannot be decoded is wrong in any case.
  if (header !== null && decodeHeaderText(header) === null)
    return mismatch('Mcp-Name', header, typeof name === 'string' ? name : null)
  if (typeof name !== 'string') return null
  const isSame = header !== null && decodeHeaderText(header) === name
  return isSame ? null : mismatch('Mcp-Name', header, name)
}

const metaOf = ({ params }: RpcRequest): JsonObject => {
  const meta = isJsonObject(params) ? params['_meta'] : undefined
  return isJsonObject(meta) ? meta : {}
}

const badMeta = (member: string, kind: string): RpcError => ({
  code: RPC_CODES.invalidParams,
  message: `params._meta["${member}"] is required and must be ${kind}`,
})

const mismatch = (name: string, header: string | null, body: string | null): RpcError => ({
  code: RPC_CODES.headerMismatch,
  message: header === null ? `The header ${name} is missing` : `The header ${name} differs from the message`,
  data: { mismatch: { name, header, body } },
})

const unsupported = (requested: string): RpcError => ({
  code: RPC_CODES.unsupportedRevision,
  message: 'This protocol revision is not supported',
  data: { supported: SUPPORTED_REVISIONS, requested },
})

const ENCODED = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/

/** Names that do not fit into a header are sent as `=?base64?…?=`. Null if the content is no text. */
export const decodeHeaderText = (header: string): string | null => {
  const base64 = ENCODED.exec(header)?.[1]
  if (base64 === undefined) return header
  const text = Buffer.from(base64, 'base64').toString('utf8')
  // Only the canonical encoding counts: another one could pass a name that a proxy refused.
  return Buffer.from(text).toString('base64') === base64 ? text : null
}
