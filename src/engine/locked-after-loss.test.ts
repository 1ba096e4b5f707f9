import { expect, it } from 'vitest'
import { INITIAL_STATE } from '../core/state.ts'
import { lockedAfterLoss } from './locked-after-loss.ts'

it('locks trading and changes nothing else, with the same object for the same state', () => {
  const locked = lockedAfterLoss(INITIAL_STATE)
  expect(locked).toEqual({
    ...INITIAL_STATE,
    trading: {
      ...INITIAL_STATE.trading,
      killSwitch: { ...INITIAL_STATE.trading.killSwitch, level: 3, reason: 'log_lost' },
    },
  })
  expect(lockedAfterLoss(INITIAL_STATE)).toBe(locked)
  expect(lockedAfterLoss({ ...INITIAL_STATE })).not.toBe(locked)
})
