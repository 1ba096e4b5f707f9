/** Example responses for the documentation. All belong to one story: Ann signals that BTC goes up, and it does. */

export const TS = '2026-02-20T00:30:00.000Z'
export const EVENT_ID = '019c7874-0f70-7c3e-9a51-2f6f0c1b7a10'
export const CONTRIBUTOR_ID = '019c7873-5a10-7b02-8f11-6d2b8f0c9a44'
export const SESSION_ID = '019c7875-11c2-7d40-a3b5-0c9de1f27b62'
export const CYCLE_ID = '019c7876-2f0e-7a51-b8c1-9e4d3a2b1c0f'
export const POSITION_ID = '7a6f5fd1-3fec-8898-920c-316e45423d1a'
export const INTENT_ID = '5816654f-95fc-81f1-b2b2-170ceb326439'
const NODE_ID = 'svc-8a88e3dd7409f195'

export const KILL_SWITCH = {
  level: 2,
  state: 'crisis',
  reason: 'exchange reports delayed fills',
  changed_at: TS,
  changed_by: NODE_ID,
} as const

export const CYCLE = {
  cycle_id: CYCLE_ID,
  ts: TS,
  intents: [
    {
      intent_id: '33333333-3333-7333-8333-333333333333',
      symbol: 'BTC',
      direction: 'long',
      size_pct: 0.05,
      leverage: 1,
      conviction_score: 78.2,
      regime: 'BULL',
      rationale: 'curator and technical agree',
      stop_loss_pct: 0.05,
      take_profit_pct: 0.1,
      valid_until: '2026-02-20T01:00:00.000Z',
      status: 'filled',
      reasons: [],
      position_id: POSITION_ID,
    },
  ],
  regime: 'BULL',
  kill_switch_level: 0,
} as const

export const CONTRIBUTOR = {
  id: CONTRIBUTOR_ID,
  node_id: 'n1',
  name: 'Ann',
  role: 'curator',
  registered_at: TS,
  metadata: {},
} as const

const factor = (value: number, weight: number) => ({ value, weight, contribution: value * weight * 100 })

export const SCORE = {
  contributor_id: CONTRIBUTOR_ID,
  node_id: 'n1',
  name: 'Ann',
  signals_submitted: 1,
  signals_accepted: 0,
  signals_profitable: 0,
  signals_resolved: 0,
  hit_rate: 0,
  acceptance_rate: 0,
  brier_score: 0.25,
  avg_conviction: 7.5,
  total_karma_usd: 0,
  score: 10,
  last_active: TS,
  streak: 0,
  factors: {
    hit_rate: factor(0, 0.35),
    calibration: factor(0, 0.2),
    volume: factor(0, 0.2),
    consistency: factor(0, 0.15),
    recency: factor(1, 0.1),
  },
  inputs: {
    weighted_hits: 0,
    weights: 0,
    brier_sum: 0,
    evidence: 0.090909091,
    own: 0,
    edge: 0,
    edge_error: 1,
    days_since_active: 0,
    gated: false,
  },
  karma: 50,
  trust: 1,
  as_of: TS,
}

export const SIGNAL = {
  id: EVENT_ID,
  type: 'signal.curator.v1',
  ts: '2026-02-20T00:29:58.000Z',
  source: 'n1',
  payload: { symbol: 'BTC', direction: 'bullish', conviction: 7.5, rationale: 'funding turned' },
} as const

export const EVENT_RECORD = {
  seq: 1,
  id: '11111111-1111-4111-8111-111111111111',
  type: 'signal.curator.v1',
  ts: '2026-02-20T00:29:58.000Z',
  schema_version: 'v1',
  source: 'operator:telegram',
  trace_id: null,
  dedupe_key: null,
  payload: { conviction: 7.5, direction: 'bullish', rationale: 'Größe | ok', symbol: 'BTC' },
  prev_hash: '',
  hash: 'e306ee83c5519c4bdde142d1998c196026f4448e11417f4825d42354cb3dfd7f',
  signature:
    'db1c806067734ef81ea84286e5b214b40297af8991a69b193224088792e5cda9590c88375bf2c4c16b672ebabe30481c805f8c368b5d9769ada2bbfe9cb9ea00',
  signer: NODE_ID,
  recorded_at: TS,
  batch_signature: `1:${'c'.repeat(128)}`,
} as const

export const ATTRIBUTION = {
  signal_id: EVENT_ID,
  type: 'signal.curator.v1',
  domain: 'curator',
  source: 'n1',
  producer_id: 'n1',
  contributor_id: CONTRIBUTOR_ID,
  contributor: { id: CONTRIBUTOR_ID, node_id: 'n1', name: 'Ann', role: 'curator' },
  score: 7.5,
  emitted_at: TS,
  received_at: TS,
  accepted: true,
  linked_trade_ids: [POSITION_ID],
  outcome: { pnl: 73.5, realized_at: '2026-02-21T09:12:00.000Z' },
  feedback: null,
  call: {
    call_id: 'b1f0a7c2-9d3e-8f41-a6b5-0c1d2e3f4a5b',
    symbol: 'BTC',
    direction: 'bullish',
    probability: 0.875,
    horizon: '24h',
    due_at: '2026-02-21T00:30:00.000Z',
    ref_price: 64_000,
    ref_sigma: 0.039191836,
    status: 'resolved',
    resolved_at: '2026-02-21T09:12:00.000Z',
    resolved_by: 'trade',
    exit_price: 70_400,
    return_pct: 0.098190331,
    band_pct: 0.0022,
    hit: true,
    base_rate: 0.333333333,
    void_reason: null,
    measured: {
      at: '2026-02-21T00:31:00.000Z',
      exit_price: 66_560,
      return_pct: 0.04,
      band_pct: 0.009797959,
      hit: true,
      base_rate: 0.4,
      void_reason: null,
    },
  },
  uses: [
    {
      cycle_id: '019c7874-2b11-7a90-8c4d-5e6f7a8b9c0d',
      conviction_id: '019c7874-2b12-7f3e-b1a2-c3d4e5f6a7b8',
      at: TS,
      symbol: 'BTC',
      action: 'long',
      share: 0.5,
      quality: 1,
      evidence: 0.75,
      contribution: 0.09375,
    },
  ],
  trades: [
    {
      position_id: POSITION_ID,
      intent_id: '019c7874-2b13-7c21-9d0e-1f2a3b4c5d6e',
      direction: 'long',
      weight: 0.188916877,
      opened_at: TS,
      closed_at: '2026-02-21T09:12:00.000Z',
      pnl: 73.5,
      exit_reason: 'take_profit',
    },
  ],
} as const

export const POSITION = {
  id: POSITION_ID,
  platform: 'paper',
  asset: 'BTC',
  direction: 'long',
  entry_price: 100.05,
  size_notional: 500,
  quantity: 4.9975,
  fees_usd: 0.3,
  leverage: 1,
  margin_type: 'isolated',
  stop_loss: 95.0475,
  take_profit: 110.055,
  opened_at: TS,
  closed_at: null,
  status: 'open',
  realized_pnl: null,
  exit_price: null,
  exit_reason: null,
  mark_price: 101,
  unrealized_pnl: 4.45,
  conviction_id: EVENT_ID,
  regime_at_entry: 'BULL',
  pcs_at_entry: 78.2,
  cts_at_entry: 0,
  adopted: false,
} as const

export const PRODUCER = {
  id: 'p1',
  name: 'p1',
  domain: 'onchain',
  endpoint: 'https://example.com/x',
  schedule: '*/15 * * * *',
  registered_at: TS,
} as const

export const PRODUCER_STATUS = {
  id: 'p1',
  name: 'p1',
  kind: 'registered',
  domain: 'onchain',
  schedule: '*/15 * * * *',
  endpoint: 'https://example.com/x',
  health: 'unknown',
  healthy: null,
  last_run_at: null,
  last_success_at: null,
  last_error: null,
  consecutive_failures: 0,
  events_produced: 0,
  avg_duration_ms: null,
  expected_interval_ms: 900_000,
  quarantined_until: null,
  quarantined_reason: null,
  updated_at: null,
  karma: 50,
  trust: 1,
  calls_resolved: 0,
  calls_hit: 0,
} as const

export const SESSION = {
  session_id: SESSION_ID,
  id: SESSION_ID,
  label: 'nightly review',
  agent: 'reviewer-1',
  status: 'open',
  created_at: TS,
  last_accessed_at: TS,
  closed_at: null,
  trace_ids: [SESSION_ID],
} as const

export const KARMA_INTENT = {
  id: INTENT_ID,
  trade_id: POSITION_ID,
  node_id: NODE_ID,
  realized_pnl_usd: 73.5,
  karma_percentage: 0.005,
  karma_amount_usd: 0.3675,
  contributors: [{ contributor_id: CONTRIBUTOR_ID, node_id: 'n1', share: 1 }],
  mode: 'paper',
  signature_b64: '2xyAYGdzTvgeqEKG5bIUtAKXr4mRppsZMiQIh5LlzalZDIg3W/LEwWtnLrq+MEgcgF+MNotdl2mtorv+nLnqAA==',
  created_at: TS,
} as const

export const KARMA_RECEIPT = {
  id: 'acf25989-4a62-8c6e-85e4-9409367e8155',
  intent_ids: [INTENT_ID],
  total_usd: 0.3675,
  destination_wallet: '0x52908400098527886E0F7030069857D2E4169EE7',
  tx_hash: null,
  status: 'pending',
  mode: 'paper',
  node_id: NODE_ID,
  signature_b64: '2xyAYGdzTvgeqEKG5bIUtAKXr4mRppsZMiQIh5LlzalZDIg3W/LEwWtnLrq+MEgcgF+MNotdl2mtorv+nLnqAA==',
  created_at: TS,
} as const

export const TREASURY = {
  enabled: true,
  percentage: 0.005,
  treasury_address: KARMA_RECEIPT.destination_wallet,
  pending_intents: 0,
  receipts: 1,
  pending_usd: 0,
  settled_usd: 0.3675,
} as const

export const EXPLANATION = {
  cycle_id: CYCLE_ID,
  ts: TS,
  trigger: 'schedule',
  regime: 'BULL',
  kill_switch_level: 0,
  warnings: [],
  rules_changed: false,
  convictions: [
    {
      conviction_id: '019c7876-2f0e-7a51-b8c1-9e4d3a2b1c10',
      symbol: 'BTC',
      decision: { action: 'none', reasons: ['coverage'] },
      direction: 'long',
      pcs_score: 72.5,
      cts_score: 0,
      final_score: 72.5,
      effective_conviction: 72.5,
      confidence: 0.56,
      coverage: 0.25,
      value: 0.45,
      domains: [{ domain: 'curator', score: 0.725, weight: 1, contribution: 0.45 }],
      inputs: [
        {
          signal_id: EVENT_ID,
          author: NODE_ID,
          domain: 'curator',
          share: 0.5,
          quality: 1,
          evidence: 0.9,
          contribution: 0.45,
        },
      ],
      next_tier: { tier: 75, value_needed: 0.5, value_missing: 0.05 },
      what_if: [
        {
          change: 'without_author',
          subject: NODE_ID,
          value: 0,
          direction: 'neutral',
          effective_conviction: 50,
          action: 'none',
          changes_decision: false,
        },
      ],
      intent: null,
    },
  ],
} as const
