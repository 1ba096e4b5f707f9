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
import { resultOf, ok, refused } from '../results.ts'
import { CYCLE, CYCLE_ID, EXPLANATION, TS } from '../examples.ts'
import { pathText, textFilter } from '../fields.ts'
import { defineRoute } from '../route.ts'

export const brainRoutes = [
  defineRoute({
    method: 'GET',
    path: '/brain/status',
    operationId: 'getBrainStatus',
    tag: 'Brain',
    summary: 'Regime, kill switch and last cycle',
    response: brainStatusView.meta({ id: 'BrainStatus' }),
    example: {
      regime: 'BULL',
      regime_changed_at: TS,
      kill_switch_level: 0,
      kill_switch_reason: null,
      kill_switch_changed_at: null,
      last_cycle_id: CYCLE_ID,
      last_cycle_at: TS,
    },
    handler: async (_input, { engine }) => ok(viewBrainStatus(await engine.fresh())),
  }),
  defineRoute({
    method: 'POST',
    path: '/brain/run',
    operationId: 'runBrainCycle',
    tag: 'Brain',
    summary: 'Run one brain cycle now',
    description: 'Refused while the kill switch is above level 0. Parallel calls run one after the other.',
    response: cycleView.meta({ id: 'Cycle' }),
    example: CYCLE,
    problems: ['kill_switch.active'],
    handler: async (_input, { engine, clock }) => {
      const cycleId = clock.newId()
      // The events of a cycle share the cycle's id as trace id, not that of the request.
      const outcome = await engine.execute(
        { kind: 'run-cycle', cycleId, trigger: 'api' },
        { traceId: cycleId },
      )
      return resultOf(outcome, (events) => viewCycle({ id: cycleId, events }, engine.state))
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/brain/explain/:id',
    operationId: 'explainDecision',
    tag: 'Brain',
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
      return explanation === null
        ? refused('decision.not_found', 'No cycle and no conviction has this id', {
            extras: { id: params.id },
          })
        : ok(explanation)
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/regime',
    operationId: 'getRegime',
    tag: 'Brain',
    summary: 'Market regime and the evidence behind it',
    response: regimeView.meta({ id: 'Regime' }),
    example: { regime: null, changed_at: null, conditions: {} },
    handler: async (_input, { engine }) => ok(viewRegime(await engine.fresh())),
  }),
]
