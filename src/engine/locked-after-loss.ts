import { KILL_SWITCH } from '../core/shared/level.ts'
import type { State } from '../core/state.ts'

/**
 * State of an engine whose log is lost. Returns the same object for the same state, because readers compare objects.
 */
export const lockedAfterLoss = (state: State): State => {
  const known = lockedStates.get(state)
  if (known !== undefined) return known
  const { trading } = state
  const killSwitch = { ...trading.killSwitch, level: KILL_SWITCH.lockdown, reason: LOG_LOST }
  const locked = { ...state, trading: { ...trading, killSwitch } }
  lockedStates.set(state, locked)
  return locked
}

const lockedStates = new WeakMap<State, State>()

const LOG_LOST = 'log_lost'
