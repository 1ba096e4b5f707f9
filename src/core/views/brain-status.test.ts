import { describe, expect, it } from 'vitest'
import { stateAfter, testContext } from '../../../test/given.fixture.ts'
import type { NewEvent } from '../events/catalogue.ts'
import { timestampOf } from '../shared/brand.ts'
import { run } from '../run.ts'
import { INITIAL_STATE } from '../state.ts'
import { brainStatusView, viewBrainStatus, viewRegime } from './brain.ts'

const context = testContext()

describe('the status of the brain', () => {
  it('is null in all but the level before anything happened', () => {
    const shown = viewBrainStatus(INITIAL_STATE)
    expect(shown).toEqual({
      regime: null,
      regime_changed_at: null,
      kill_switch_level: 0,
      kill_switch_reason: null,
      kill_switch_changed_at: null,
      last_cycle_id: null,
      last_cycle_at: null,
    })
    expect(brainStatusView.strict().parse(shown)).toEqual(shown)
  })

  it('shows where the kill switch stands, since when and why', () => {
    const raised = run(
      INITIAL_STATE,
      {
        kind: 'set-kill-switch',
        move: { level: 2, reason: 'delayed fills', operator: 'svc-1', surface: 'api' },
      },
      context,
    )
    if (raised.status !== 'accepted') throw new Error('refused')
    expect(viewBrainStatus(raised.state)).toMatchObject({
      kill_switch_level: 2,
      kill_switch_reason: 'delayed fills',
      kill_switch_changed_at: context.now,
    })
  })
})

describe('the regime', () => {
  const changed: NewEvent = {
    type: 'brain.regime_change.v1',
    source: 'brain',
    ts: timestampOf('2026-02-20T00:00:00.000Z'),
    payload: { regime: 'BULL', previous: null, evidence: { btc_rsi: 61 } },
  }
  const cycle = (evidence?: Readonly<Record<string, number>>): NewEvent => ({
    type: 'brain.cycle.v1',
    source: 'brain',
    payload: {
      cycle_id: 'c1',
      trigger: 'schedule',
      started_at: timestampOf('2026-02-20T00:05:00.000Z'),
      symbols: [],
      regime: 'BULL',
      kill_switch_level: 0,
      weights: {},
      data_quality: {},
      signals_used: {},
      intents: 0,
      duration_ms: 1,
      weights_version: 0,
      config_hash: '',
      engine_version: '0',
      stale_cycles: 0,
      warnings: [],
      ...(evidence === undefined ? {} : { evidence }),
    },
  })

  it('shows the evidence of the newest cycle with its time, also if nothing changed', () => {
    expect(viewRegime(stateAfter([changed, cycle({ btc_rsi: 55 })]))).toEqual({
      regime: 'BULL',
      changed_at: '2026-02-20T00:00:00.000Z',
      conditions: { btc_rsi: 55 },
      conditions_at: '2026-02-20T00:05:00.000Z',
    })
  })

  it('keeps the time of old evidence: a cycle of an older release has none', () => {
    expect(viewRegime(stateAfter([changed, cycle()]))).toMatchObject({
      conditions: { btc_rsi: 61 },
      conditions_at: '2026-02-20T00:00:00.000Z',
    })
  })
})
