import { describe, expect, it } from 'vitest'
import { testContext } from '../../../test/given.fixture.ts'
import { run } from '../run.ts'
import { INITIAL_STATE } from '../state.ts'
import { brainStatusView, viewBrainStatus } from './brain.ts'

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
