import { canonicalSymbol } from '../shared/symbol.ts'
import { priceFrom } from '../shared/money.ts'
import { timestampOf, contributorId, nodeId, signalId, type SignalId } from '../shared/brand.ts'
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../log/canonical-json.ts'
import {
  commitmentText,
  convictionPayload,
  cyclePayload,
  type IntentRules,
  regimeChangePayload,
  tradeIntentPayload,
} from './payloads.ts'
import { curatorCall, cycleOf, firstOf, NOW_MS, regimeSignals, RULES, signalOf } from './scenario.fixture.ts'

const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex')

const result = cycleOf({
  symbols: ['ETH', 'SOL'],
  signals: [
    signalOf('ta', { rsi_14: 66 }),
    signalOf('social', { score: 9 }),
    signalOf('onchain', { price_momentum_24h: 12 }),
    curatorCall('bullish', 9),
    ...regimeSignals('BULL'),
  ],
  market: [{ symbol: canonicalSymbol('ETH'), volume24hUsd: null, return24hPct: null, mark: priceFrom(3000) }],
})

const conviction = firstOf(result)

describe('convictionPayload', () => {
  const payload = convictionPayload(conviction, { cycleId: 'c1', sha256Hex })

  it('holds everything the conviction follows from', () => {
    expect(payload).toStrictEqual({
      cycle_id: 'c1',
      symbol: 'ETH',
      direction: 'long',
      magnitude: 5.2605,
      timeframe: '4h',
      pcs_score: 77.83333335,
      cts_score: 11,
      regime: 'BULL',
      domains_used: ['curator', 'onchain', 'social', 'technical'],
      final_score: 76.3025,
      domain_scores: { curator: 0.725, onchain: 1, social: 0.95, technical: 0.1 },
      signal_ids: ['curator', 'onchain', 'social', 'ta'],
      commitment_hash: sha256Hex(commitmentText(conviction)),
      pre_cap_magnitude: 5.2605,
      effective_conviction: 76.3025,
      confidence: conviction.confidence,
      coverage: 0.75,
      inputs: [
        input('curator', 'ann', 'curator', 0.5, 0.9, 0.15),
        input('onchain', 'onchain-producer', 'onchain', 1, 1, 0.333333333),
        input('social', 'social-producer', 'social', 1, 0.9, 0.18),
        input('ta', 'ta-producer', 'technical', 1, -0.8, -0.106666667),
      ],
      decision: { action: 'long', reasons: [] },
      domain_weights: { curator: 0.333333333, onchain: 0.333333333, social: 0.2, technical: 0.133333333 },
      counter_thesis: { rsi_14: 66, funding_annualized: null, basis_annualized: null },
    })
  })

  it('has one canonical text', () => {
    expect(() => canonicalJson(payload)).not.toThrow()
  })

  it('commits to the members of the contract, domains sorted', () => {
    expect(JSON.parse(commitmentText(conviction))).toStrictEqual({
      symbol: 'ETH',
      direction: 'long',
      magnitude: payload.magnitude,
      timeframe: '4h',
      pcs_score: payload.pcs_score,
      cts_score: 11,
      regime: 'BULL',
      domains_used: ['curator', 'onchain', 'social', 'technical'],
    })
    const [, empty] = result.convictions
    expect(empty && commitmentText(empty)).toBe(
      '{"cts_score":0,"direction":"neutral","domains_used":[],"magnitude":0,"pcs_score":50,"regime":"BULL","symbol":"SOL","timeframe":"4h"}',
    )
  })

  const input = (
    ...[signal_id, author, domain, share, evidence, contribution]: readonly [
      string,
      string,
      string,
      number,
      number,
      number,
    ]
  ) => ({ signal_id, author, domain, share, quality: 1, evidence, contribution })
})

describe('tradeIntentPayload', () => {
  const contributorOf = (id: SignalId) =>
    id === signalId('curator') ? { contributorId: contributorId('c7'), nodeId: nodeId('ann') } : null
  const context = { cycleId: 'c1', convictionId: 'v1', asOfMs: NOW_MS, notionalUsd: 100, contributorOf }

  const payloadWith = (
    execution: Partial<IntentRules['execution']>,
    changes: object = {},
    notionalUsd = 100,
  ) => {
    const [intent] = result.intents
    if (intent === undefined) throw new Error('the cycle had no intent')
    return tradeIntentPayload(
      { ...intent, ...changes },
      { ...context, notionalUsd },
      { execution: { ...RULES.execution, ...execution } },
    )
  }

  it('says what is meant to be done, and why', () => {
    expect(payloadWith({})).toStrictEqual({
      cycle_id: 'c1',
      symbol: 'ETH',
      direction: 'long',
      size_pct: 0.05,
      leverage: 2,
      conviction_score: 76.3025,
      regime: 'BULL',
      rationale:
        'long ETH with conviction 76.3 in BULL: onchain +0.333, social +0.180, curator +0.150, technical -0.107; counter-thesis 11.0',
      stop_loss_pct: 0.05,
      take_profit_pct: 0.1,
      valid_until: '2026-02-20T00:05:00.000Z',
      conviction_id: 'v1',
      signal_ids: ['curator', 'onchain', 'social'],
      attribution: [
        { signal_id: 'curator', weight: 0.226130653, contributor_id: 'c7', node_id: 'ann' },
        { signal_id: 'onchain', weight: 0.502512563, contributor_id: null, node_id: null },
        { signal_id: 'social', weight: 0.271356784, contributor_id: null, node_id: null },
      ],
      intended_price: 3000,
      approval_required: false,
      status: 'ready',
      pcs_score: 77.83333335,
      cts_score: 11,
    })
  })

  it.each([
    ['paper', null, true, 1e6, 'ready'],
    ['paper', true, true, 100, 'awaiting_approval'],
    ['paper', true, false, 1e6, 'awaiting_approval'],
    ['live', null, true, 100, 'awaiting_approval'],
    ['live', null, false, 499.99, 'ready'],
    ['live', null, false, 500, 'awaiting_approval'],
    ['live', false, true, 1e6, 'ready'],
  ] as const)(
    'in %s mode with require_approval %s, large tier %s and notional %s is %s',
    (mode, require_approval, approvalRequired, notionalUsd, status) => {
      const payload = payloadWith({ mode, require_approval }, { approvalRequired }, notionalUsd)
      expect(payload.status).toBe(status)
      expect(payload.approval_required).toBe(approvalRequired || status === 'awaiting_approval')
      expect(payload.valid_until).toBe(
        status === 'ready' ? '2026-02-20T00:05:00.000Z' : '2026-02-20T01:00:00.000Z',
      )
    },
  )
})

describe('cyclePayload', () => {
  it('tells what the cycle saw and did', () => {
    const payload = cyclePayload(result, {
      cycleId: 'c1',
      trigger: 'api',
      startedAt: timestampOf('2026-02-20T00:00:00.000Z'),
      durationMs: 3,
      weightsVersion: 2,
      configHash: 'aa',
      engineVersion: '0.1.0',
    })
    expect(payload).toStrictEqual({
      cycle_id: 'c1',
      trigger: 'api',
      started_at: '2026-02-20T00:00:00.000Z',
      symbols: ['ETH', 'SOL'],
      regime: 'BULL',
      kill_switch_level: 0,
      weights: { curator: 0.25, onchain: 0.25, tradfi: 0.2, social: 0.15, technical: 0.1, events: 0.05 },
      data_quality: { ETH: { curator: 1, onchain: 1, social: 1, technical: 1 }, SOL: {} },
      signals_used: { ETH: ['curator', 'onchain', 'social', 'ta'], SOL: [] },
      intents: 1,
      duration_ms: 3,
      weights_version: 2,
      config_hash: 'aa',
      engine_version: '0.1.0',
      stale_cycles: 0,
      warnings: [],
      evidence: {
        btc_rsi: 58,
        funding_annualized: 12,
        basis_annualized: 5,
        fear_greed: 62,
        crisis_votes: 0,
        bull_votes: 4,
        bear_votes: 0,
      },
    })
  })
})

describe('regimeChangePayload', () => {
  it('shows the gauges and the votes', () => {
    expect(result.regimeChange && regimeChangePayload(result.regimeChange)).toStrictEqual({
      regime: 'BULL',
      previous: null,
      evidence: {
        btc_rsi: 58,
        funding_annualized: 12,
        basis_annualized: 5,
        fear_greed: 62,
        crisis_votes: 0,
        bull_votes: 4,
        bear_votes: 0,
      },
    })
  })
})
