import type { JsonObject } from '../core/shared/json.ts'

/** One message to the MCP endpoint, as the door that took it hands it on. */
export interface McpPost {
  readonly body: McpBody
  readonly headers: McpHeaders
  /** The caller's thread through the log, if it named one. */
  readonly traceId: string | null
  readonly requestId: string
  /** Whether the caller may do what only operators may. */
  readonly mayOperate: boolean
}

export type McpBody =
  | { readonly status: 'parsed'; readonly value: unknown }
  | { readonly status: 'malformed'; readonly detail: string }
  /** JSON, but with values that have no meaning here, such as a lone surrogate. */
  | { readonly status: 'invalid'; readonly value: unknown; readonly detail: string }

/** What a caller says of its message beside it; null where it says nothing. */
export interface McpHeaders {
  readonly protocolVersion: string | null
  readonly method: string | null
  readonly name: string | null
}

export interface McpReply {
  readonly status: number
  /** Null: nothing is said. */
  readonly body: JsonObject | null
  /** `none`: nothing was done, or only what had been done before. */
  readonly effect: 'none' | 'read' | 'written'
}

/** Answers every message; what breaks inside is told as an error of the protocol. */
export type McpEndpoint = (post: McpPost) => Promise<McpReply>
