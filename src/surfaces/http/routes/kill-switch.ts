import { z } from 'zod'
import {
  killSwitchView,
  liveView,
  viewKillSwitch,
  viewKillSwitchAfter,
  viewLive,
} from '../../../core/views/kill-switch.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import { killSwitchMove, reasonText, setKillSwitch } from '../../operator-actions.ts'
import { aboutPast, asOfMember } from '../as-of.ts'
import { NODE_ID, TS } from '../examples.ts'
import { ok } from '../results.ts'
import { route, routes } from '../route.ts'

const KILL_SWITCH = {
  level: 2,
  state: 'crisis',
  reason: 'exchange reports delayed fills',
  changed_at: TS,
  changed_by: NODE_ID,
} as const

const LIVE = {
  mode: 'live',
  venue: 'binanceusdm',
  sends_entries: false,
  held_back_by: ['paper_period'],
  reasons: [
    {
      code: 'paper_period',
      text:
        'Fewer than 14 days on paper with prices of a real market (execution.paper_min_days); days of a simulated ' +
        'market or a file do not count.',
    },
  ],
  confirmed: { venue: 'binanceusdm', by: 'svc-0123456789abcdef', at: TS },
  checks: { at: TS, ok: true, items: [{ name: 'reachable', ok: true, detail: 'the venue answers' }] },
  reduce_only: null,
  unknown_orders: [],
  adopted_positions: [],
} as const

const response = killSwitchView.extend(asOfMember).meta({ id: 'KillSwitch' })
const live = liveView.meta({ id: 'Live' })

export const killSwitchRoutes = routes('Kill switch', {
  getKillSwitch: route('GET', '/kill-switch', 'read', {
    summary: 'Level of the kill switch',
    response,
    example: { level: 0, state: 'normal', reason: null, changed_at: null, changed_by: null },
    ...aboutPast({
      answer: async ({ reader }) => ok(viewKillSwitch((await reader.fresh()).trading.killSwitch)),
    }),
  }),
  setKillSwitch: route('POST', '/kill-switch', 'control', {
    summary: 'Raise or lower the kill switch',
    description:
      'Any level may be chosen. The current level again writes nothing, nor does a lower one with `raise_only`: the ' +
      'level may have risen since the caller read it. Only an operator lowers it; raising it is never refused for ' +
      'being too frequent.',
    isUrgent: true,
    reducesRisk: ({ body: { level } }, { engine }) => level > engine.state.trading.killSwitch.level,
    body: killSwitchMove.meta({ examples: [{ level: 2, reason: 'exchange reports delayed fills' }] }),
    response,
    example: KILL_SWITCH,
    problems: ['auth.forbidden'],
    handler: ({ body, caller, execute }, { engine }) =>
      execute(setKillSwitch(body, engine.nodeId, caller), (events) =>
        viewKillSwitchAfter(engine.state.trading.killSwitch, events),
      ),
  }),
})

export const liveRoutes = routes('Live trading', {
  getLive: route('GET', '/live', 'read', {
    summary: 'Whether live orders are sent, and what blocks them',
    response: live,
    example: LIVE,
    handler: async (_input, { engine, configuration, clock }) =>
      ok(viewLive(await engine.fresh(), configuration.current(), isoNow(clock))),
  }),
  resumeLive: route('POST', '/live/resume', 'operator', {
    summary: 'Allow entries again after positions at the venue did not match',
    description:
      'Ends reduce-only mode. Positions that the venue does not hold are closed here at their last price.',
    body: z.object({ reason: reasonText() }).meta({ examples: [{ reason: 'bought by hand, closed' }] }),
    response: live,
    example: LIVE,
    problems: ['live.not_reduce_only'],
    handler: ({ body: { reason }, execute }, { engine, configuration, clock }) =>
      execute({ kind: 'resume-live', operator: engine.nodeId, reason, surface: 'api' }, () =>
        viewLive(engine.state, configuration.current(), isoNow(clock)),
      ),
  }),
})
