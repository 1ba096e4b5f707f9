import { isJsonObject } from '../../core/shared/json-object.ts'
import type { JsonObject } from '../../core/shared/json.ts'
import type { McpHeaders } from '../mcp-exchange.ts'
import { decodeHeaderText } from './header-text.ts'
import { RPC_CODES, type RpcError, type RpcRequest } from './json-rpc.ts'
import { MODERN_REVISION, SUPPORTED_REVISIONS } from './revisions.ts'

/** `handshake` callers began with `initialize`, or with nothing at all: no session remembers which. */
export type Generation = 'modern' | 'handshake'

export type Recognised =
  | { readonly status: 'known'; readonly generation: Generation }
  /** HTTP 400: the caller contradicts itself, or wants what is not spoken here. */
  | { readonly status: 'refused'; readonly error: RpcError }

export const REVISION_MEMBER = 'io.modelcontextprotocol/protocolVersion'
export const CAPABILITIES_MEMBER = 'io.modelcontextprotocol/clientCapabilities'

/** Who speaks, and whether what stands beside the message agrees with what stands in it. */
export const recogniseCaller = (request: RpcRequest, headers: McpHeaders): Recognised => {
  const meta = metaOf(request)
  if (Object.hasOwn(meta, REVISION_MEMBER) || headers.protocolVersion === MODERN_REVISION) {
    const error = modernFault(request, meta, headers)
    return error === null ? { status: 'known', generation: 'modern' } : { status: 'refused', error }
  }
  const { protocolVersion } = headers
  const isUnknown = protocolVersion !== null && !SUPPORTED_REVISIONS.includes(protocolVersion)
  // Whoever still negotiates cannot know yet what to put into the header.
  if (isUnknown && request.method !== 'initialize') {
    return { status: 'refused', error: unsupported(protocolVersion) }
  }
  return { status: 'known', generation: 'handshake' }
}

/** In the order of the reference implementation: what a message claims, then whether headers contradict it. */
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

/** A call without a name is told of that later, as any call with bad parameters is. */
const nameFault = (params: unknown, header: string | null): RpcError | null => {
  const name = isJsonObject(params) ? params['name'] : undefined
  // A header that cannot be read is wrong whatever it should say.
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
  message: 'This protocol revision is not spoken here',
  data: { supported: SUPPORTED_REVISIONS, requested },
})
