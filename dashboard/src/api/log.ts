/** Shapes of the API about what is stored. */
export type Payload = Readonly<Record<string, unknown>>

/** What the stream and the lists of signals tell of an event. */
export interface EventItem {
  readonly id: string
  readonly type: string
  readonly ts: string
  readonly source: string | null
  readonly payload: Payload
}

export interface EventRecord extends EventItem {
  readonly seq: number
  readonly schema_version: string
  readonly trace_id: string | null
  readonly dedupe_key: string | null
  readonly prev_hash: string
  readonly hash: string
  readonly signature: string | null
  readonly signer: string | null
  readonly recorded_at: string
}

export interface EventPage {
  readonly items: readonly EventRecord[]
  readonly limit: number
  readonly next_seq: number | null
}

export interface SignalPage {
  readonly items: readonly EventItem[]
  readonly limit: number
  readonly offset: number
  readonly total: number
}

export interface Attribution {
  readonly signal_id: string
  readonly type: string
  readonly domain: string
  readonly source: string | null
  readonly producer_id: string | null
  readonly contributor_id: string | null
  readonly contributor: {
    readonly id: string
    readonly node_id: string
    readonly name: string
    readonly role: string
  } | null
  readonly score: number | null
  readonly emitted_at: string
  readonly received_at: string
  readonly accepted: boolean
  readonly linked_trade_ids: readonly string[]
  readonly outcome: { readonly pnl: number; readonly realized_at: string } | null
  readonly feedback: { readonly outcome: string; readonly pnl: number | null; readonly at: string } | null
}

export interface Integrity {
  readonly ok: boolean
  readonly mode: 'fast' | 'full'
  readonly checked: number
  readonly event_count: number
  readonly first_bad_id: string | null
  readonly first_bad_seq: number | null
  readonly reason: string | null
  readonly head_seq: number
  readonly head_hash: string
  readonly elapsed_ms: number
}

export interface Health {
  readonly version: string
  readonly uptime_seconds: number
  readonly db_size_bytes: number
}

export interface Session {
  readonly signed_in: boolean
  readonly sign_in_needed: boolean
  readonly expires_at: string | null
}

export type Configuration = Readonly<Record<string, unknown>>

export interface ConfigurationChange {
  readonly ok: true
  readonly path: string
  readonly restart_required: readonly string[]
  readonly overridden_by_env: readonly string[]
}
