import { describe, expect, it } from 'vitest'
import { stateAfter, testContext } from '../../../test/given.fixture.ts'
import { run } from '../run.ts'
import { INITIAL_STATE } from '../state.ts'
import { killSwitchView, viewKillSwitch, viewKillSwitchAfter } from './kill-switch.ts'

const set = (level: 0 | 1 | 2 | 3) =>
  ({
    kind: 'set-kill-switch',
    move: { level, reason: 'because', operator: 'svc-1', surface: 'api' },
  }) as const

const context = testContext()

describe('the kill switch as it is shown', () => {
  it('is normal in the beginning', () => {
    expect(viewKillSwitch(stateAfter([]).trading.killSwitch)).toEqual({
      level: 0,
      state: 'normal',
      reason: null,
      changed_at: null,
      changed_by: null,
    })
  })

  it.each([
    [1, 'caution'],
    [2, 'crisis'],
    [3, 'lockdown'],
  ] as const)('has a name for level %d: %s', (level, state) => {
    const result = run(INITIAL_STATE, set(level), context)
    if (result.status !== 'accepted') throw new Error('refused')
    const shown = viewKillSwitch(result.state.trading.killSwitch)
    expect(shown).toEqual({ level, state, reason: 'because', changed_at: context.now, changed_by: 'svc-1' })
    expect(killSwitchView.parse(shown)).toEqual(shown)
    expect(viewKillSwitchAfter(INITIAL_STATE.trading.killSwitch, result.events)).toEqual(shown)
  })

  it('stays as it is after a command that changed nothing', () => {
    expect(viewKillSwitchAfter(INITIAL_STATE.trading.killSwitch, [])).toEqual(
      viewKillSwitch(INITIAL_STATE.trading.killSwitch),
    )
  })
})
