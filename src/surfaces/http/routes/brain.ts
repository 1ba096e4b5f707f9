import { z } from 'zod'
import {
  brainStatusView,
  cycleView,
  explanationView,
  regimeView,
  viewBrainStatus,
  viewCycle,
  viewRegime,
} from '../../../core/views/brain.ts'
import { explain } from '../../../engine/queries/explanation.ts'
import { aboutPast, asOfMember } from '../as-of.ts'
import { CYCLE, CYCLE_ID, EVENT_ID, NODE_ID, TS } from '../examples.ts'
import { ok, okOr } from '../results.ts'
import { pathText, textFilter } from '../fields.ts'
import { route, routes } from '../route.ts'

const EXPLANATION = {
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

export const brainRoutes = routes('Brain', {
  getBrainStatus: route('GET', '/brain/status', 'read', {
    summary: 'Regime, kill switch and last cycle',
    response: brainStatusView.extend(asOfMember).meta({ id: 'BrainStatus' }),
    example: {
      regime: 'BULL',
      regime_changed_at: TS,
      kill_switch_level: 0,
      kill_switch_reason: null,
      kill_switch_changed_at: null,
      last_cycle_id: CYCLE_ID,
      last_cycle_at: TS,
    },
    ...aboutPast({ answer: async ({ reader }) => ok(viewBrainStatus(await reader.fresh())) }),
  }),
  runBrainCycle: route('POST', '/brain/run', 'submit', {
    summary: 'Run one brain cycle now',
    description: 'Refused while the kill switch is above level 0. Parallel calls run one after the other.',
    response: cycleView.meta({ id: 'Cycle' }),
    example: CYCLE,
    problems: ['kill_switch.active'],
    handler: ({ execute }, { engine, clock }) => {
      const id = clock.newId()
      // The events of a cycle share the cycle's id as trace id, not that of the request.
      return execute(
        { kind: 'run-cycle', cycleId: id, trigger: 'api' },
        (events) => viewCycle({ id, events }, engine.state),
        { traceId: id },
      )
    },
  }),
  explainDecision: route('GET', '/brain/explain/:id', 'read', {
    summary: 'Why a cycle decided as it did',
    description:
      'Every input with its author, quality, share, evidence and contribution, the distance to the next tier, and what ' +
      'would have changed the decision. `last` is the last cycle.',
    params: z.object({ id: pathText('the id of a cycle or of a conviction, or `last`', CYCLE_ID) }),
    query: z.object({ symbol: textFilter('only this symbol of the cycle') }),
    response: explanationView.meta({ id: 'Explanation' }),
    example: EXPLANATION,
    problems: ['decision.not_found'],
    handler: async ({ params, query }, { engine, configuration }) => {
      const id = params.id === 'last' ? ((await engine.fresh()).brain.lastCycle?.id ?? '') : params.id
      const symbol = query.symbol ?? null
      const explanation = await explain(engine, { id, symbol }, configuration.current())
      return okOr(explanation, 'decision.not_found', 'No cycle and no conviction has this id', {
        id: params.id,
      })
    },
  }),
  getRegime: route('GET', '/regime', 'read', {
    summary: 'Market regime and the evidence behind it',
    response: regimeView.extend(asOfMember).meta({ id: 'Regime' }),
    example: {
      regime: 'BULL',
      changed_at: TS,
      conditions: {
        btc_rsi: 61.2,
        funding_annualized: 9.8,
        basis_annualized: 7.1,
        fear_greed: 64,
        crisis_votes: 0,
        bull_votes: 4,
        bear_votes: 0,
      },
      conditions_at: TS,
    },
    ...aboutPast({ answer: async ({ reader }) => ok(viewRegime(await reader.fresh())) }),
  }),
})
