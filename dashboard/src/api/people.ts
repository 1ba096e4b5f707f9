/** Shapes of the API about those who say something: contributors, producers, and what they are owed. */
export interface Contributor {
  readonly id: string
  readonly node_id: string
  readonly name: string
  readonly role: string
  readonly registered_at: string
  readonly metadata: Readonly<Record<string, unknown>>
}

export type FactorName = 'hit_rate' | 'calibration' | 'volume' | 'consistency' | 'recency'

export interface Score {
  readonly contributor_id: string
  readonly node_id: string
  readonly name: string
  readonly signals_submitted: number
  readonly signals_accepted: number
  readonly signals_profitable: number
  readonly signals_resolved: number
  readonly hit_rate: number
  readonly acceptance_rate: number
  readonly brier_score: number
  readonly avg_conviction: number
  readonly total_karma_usd: number
  readonly score: number
  /** Empty without signals. */
  readonly last_active: string
  readonly streak: number
  readonly factors: Readonly<
    Record<FactorName, { readonly value: number; readonly weight: number; readonly contribution: number }>
  >
  /** Absent where the service does not tell how the factors come about. */
  readonly inputs?: ScoreInputs
  /** Hits beyond the base rate, 0 to 100; 50 is chance. */
  readonly karma?: number
  readonly as_of: string
}

export interface ScoreInputs {
  readonly weighted_hits: number
  readonly weights: number
  readonly brier_sum: number
  /** How much volume and consistency count. */
  readonly evidence: number
  readonly days_since_active: number | null
  /** Ten signals or more, and fewer than one in ten was used. */
  readonly gated: boolean
}

export type ProducerHealth = 'unknown' | 'ok' | 'degraded' | 'stale' | 'error' | 'quarantined'

export interface ProducerStatus {
  readonly id: string
  readonly name: string
  readonly kind: 'builtin' | 'registered'
  readonly domain: string
  readonly schedule: string | null
  readonly endpoint: string | null
  readonly health: ProducerHealth
  readonly healthy: boolean | null
  readonly last_run_at: string | null
  readonly last_success_at: string | null
  readonly last_error: string | null
  readonly consecutive_failures: number
  readonly events_produced: number
  readonly avg_duration_ms: number | null
  readonly expected_interval_ms: number | null
  readonly quarantined_until: string | null
  readonly quarantined_reason: string | null
  readonly updated_at: string | null
}

export interface Provenance {
  readonly producer_id: string
  readonly has_provenance: boolean
  readonly note: string
  readonly chain_verified?: boolean
  readonly total_signals?: number
  readonly p_and_l_attributed?: boolean
  readonly operator_coverage?: number
  readonly first_seen?: string
  readonly last_seen?: string
  readonly attribution_windows?: Readonly<
    Record<string, { readonly signals: number; readonly hit_rate: number; readonly max_drawdown_pct: number }>
  >
}

export interface Treasury {
  readonly enabled: boolean
  readonly percentage: number
  readonly treasury_address: string
  readonly pending_intents: number
  readonly receipts: number
  readonly pending_usd: number
  readonly settled_usd: number
}

export interface KarmaIntent {
  readonly id: string
  readonly trade_id: string
  readonly node_id: string
  readonly realized_pnl_usd: number
  readonly karma_percentage: number
  readonly karma_amount_usd: number
  readonly contributors: readonly {
    readonly contributor_id: string
    readonly node_id: string
    readonly share: number
  }[]
  readonly mode: 'paper' | 'live'
  readonly signature_b64: string
  readonly created_at: string
}

export interface KarmaReceipt {
  readonly id: string
  readonly intent_ids: readonly string[]
  readonly total_usd: number
  readonly destination_wallet: string
  readonly tx_hash: string | null
  readonly status: 'pending' | 'submitted' | 'confirmed' | 'failed'
  readonly mode: 'paper' | 'live'
  readonly node_id: string
  readonly signature_b64: string
  readonly created_at: string
}
