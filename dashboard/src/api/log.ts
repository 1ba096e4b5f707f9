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
  /** The following are told by services that judge calls. */
  readonly call?: SignalCall | null
  readonly uses?: readonly SignalUse[]
  readonly trades?: readonly SignalTrade[]
}

/** What a signal says a symbol will do, and what the market answered. */
export interface SignalCall {
  readonly direction: string | null
  readonly probability: number | null
  readonly horizon: string | null
  readonly due_at: string | null
  readonly ref_price: number | null
  readonly status: 'open' | 'resolved' | 'void'
  readonly resolved_at: string | null
  readonly exit_price: number | null
  readonly return_pct: number | null
  readonly hit: boolean | null
  readonly void_reason: string | null
}

/** A cycle in which a signal had a share. */
export interface SignalUse {
  readonly cycle_id: string
  readonly conviction_id: string
  readonly at: string
  readonly symbol: string
  readonly action: string
  readonly share: number
  readonly contribution: number
}

export interface SignalTrade {
  readonly position_id: string
  readonly direction: string | null
  /** Its part in the intent; all parts add up to 1. */
  readonly weight: number | null
  readonly opened_at: string
  readonly closed_at: string | null
  readonly pnl: number | null
  readonly exit_reason: string | null
}

export interface VerifyProgress {
  readonly step: 'hashes' | 'signatures'
  readonly checked: number
  readonly total: number
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

/** What can be configured, and how. `schema` is JSON Schema. */
export interface ConfigurationForm {
  readonly schema: Payload
  readonly path: string
  readonly restart_keys: readonly string[]
  /** Changed since the service was started, and counting only after a restart. */
  readonly waiting_for_restart: readonly string[]
  readonly set_by_environment: readonly string[]
}

export interface ConfigurationChange {
  readonly ok: true
  readonly path: string
  readonly restart_required: readonly string[]
  readonly overridden_by_env: readonly string[]
}
