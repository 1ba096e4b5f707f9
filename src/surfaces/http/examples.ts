/** Example responses that several endpoints share. All belong to one story: Ann signals that BTC goes up, and it does. */

export const TS = '2026-02-20T00:30:00.000Z'
export const EVENT_ID = '019c7874-0f70-7c3e-9a51-2f6f0c1b7a10'
export const CONTRIBUTOR_ID = '019c7873-5a10-7b02-8f11-6d2b8f0c9a44'
export const SESSION_ID = '019c7875-11c2-7d40-a3b5-0c9de1f27b62'
export const CYCLE_ID = '019c7876-2f0e-7a51-b8c1-9e4d3a2b1c0f'
export const POSITION_ID = '7a6f5fd1-3fec-8898-920c-316e45423d1a'
export const INTENT_ID = '5816654f-95fc-81f1-b2b2-170ceb326439'
export const ORDER_ID = '0d1f1f5e-6a0b-8b7e-9c55-4f3f1f0a2b11'
export const NODE_ID = 'svc-8a88e3dd7409f195'

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
