import type { JsonObject } from '../core/shared/json.ts'
import type { Caller } from './caller.ts'

/** One message to the MCP endpoint, as the HTTP surface passes it on. */
export interface McpPost {
  readonly body: McpBody
  readonly headers: McpHeaders
  /** Becomes `trace_id` of the events that the call writes. */
  readonly traceId: string | null
  readonly requestId: string
  readonly caller: Caller
}

export type McpBody =
  | { readonly status: 'parsed'; readonly value: unknown }
  | { readonly status: 'malformed'; readonly detail: string }
  /** More values than any request needs. The text is not parsed. */
  | { readonly status: 'oversized'; readonly detail: string }
  /** JSON, but with values that have no meaning here, such as a lone surrogate. */
  | { readonly status: 'invalid'; readonly value: unknown; readonly detail: string }

/** The headers of the protocol; null where absent. */
export interface McpHeaders {
  readonly protocolVersion: string | null
  readonly method: string | null
  readonly name: string | null
}

export interface McpReply {
  readonly status: number
  /** Null for an empty response. */
  readonly body: JsonObject | null
  /** `none`: nothing was done, or it had been done before. */
  readonly effect: 'none' | 'read' | 'written'
}

/** Answers every message; an unexpected error becomes an error of the protocol. */
export type McpEndpoint = (post: McpPost) => Promise<McpReply>
