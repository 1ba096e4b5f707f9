import { type Timestamp, timestampOf } from '../shared/brand.ts'
import { testContext } from '../../../test/given.fixture.ts'
import { DEFAULT_CONFIGURATION } from '../config/validate.ts'
import type { NewPayload } from '../events/catalogue.ts'
import { run } from '../run.ts'
import { evolve, type State } from '../state.ts'
import type { JsonObject } from '../shared/json.ts'
import { DAY_MS, timestampAt } from '../shared/time.ts'

export const BEGIN_MS = Date.parse('2026-01-01T00:00:00.000Z')
export const at = (day: number): Timestamp => timestampAt(BEGIN_MS + day * DAY_MS)

export type Run = NewPayload<'learning.weight_adjustment.v1'>

export const folded = (state: State, type: string, payload: object, ts: string): State =>
  evolve(state, {
    seq: state.seq + 1,
    id: `e${state.seq + 1}`,
    type,
    ts: timestampOf(ts),
    source: 'test',
    traceId: null,
    dedupeKey: null,
    payload: payload as JsonObject,
    recordedAt: timestampOf(ts),
  })

export interface Trade {
  readonly won: boolean
  readonly direction?: 'long' | 'short'
  readonly scores?: Readonly<Record<string, number>>
  readonly netReturn?: number
}

export const closed = (
  state: State,
  day: number,
  { won, direction = 'long', scores = {}, netReturn }: Trade,
): State =>
  folded(
    state,
    'learning.outcome.v1',
    {
      position_id: `p${state.seq}`,
      conviction_id: 'c',
      direction,
      realized_pnl: won ? 10 : -5,
      net_return: netReturn ?? (won ? 0.02 : -0.01),
      direction_correct: won,
      time_held_hours: 4,
      max_drawdown_pct: 0.01,
      regime_at_entry: 'BULL',
      domain_scores_at_entry: scores,
      signal_ids: ['s1', 's2'],
    },
    at(day),
  )

export const learnAt = (state: State, day: number, configuration = DEFAULT_CONFIGURATION) => {
  const context = testContext({ now: at(day), configuration })
  const result = run(state, { kind: 'run-learning', cause: { trigger: 'cli' } }, context)
  if (result.status === 'refused') throw new Error('refused')
  return { events: result.events, state: result.state, run: result.events[0]?.payload as unknown as Run }
}

export const lately = (until: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => until - 20 + (index * 19) / count)
