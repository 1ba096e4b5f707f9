import type { PayloadOf } from '../events/catalogue.ts'
import { accept, type Decision } from '../shared/decision.ts'

export type ClockJump = PayloadOf<'system.clock_jumped.v1'>

/**
 * Key of a clock jump. A log that is ahead stays so until the clock has caught up, so each such time is recorded once.
 */
export const clockJumpKey = ({
  cause,
  log_time,
}: Pick<ClockJump, 'cause' | 'log_time'>): string | undefined =>
  cause === 'log_ahead' ? `clock:log_ahead:${log_time}` : undefined

export const recordClockJump = (jump: ClockJump): Decision => {
  const key = clockJumpKey(jump)
  return accept(
    { type: 'system.clock_jumped.v1', source: 'system', payload: jump, ...(key && { dedupeKey: key }) },
    {
      type: 'alert.clock_jump',
      source: 'alerts',
      payload: {
        urgency: 'immediate',
        message: messageOf(jump),
        cause: jump.cause,
        jump_seconds: jump.jump_seconds,
        repeat: 0,
      },
    },
  )
}

const messageOf = ({ cause, jump_seconds, wall_clock, log_time }: ClockJump): string => {
  switch (cause) {
    case 'wall_clock':
      return (
        `The clock of the machine jumped by ${jump_seconds} seconds, to ${wall_clock}. The service goes on by the time ` +
        'that has passed. Check the clock, then restart the service to follow it.'
      )
    case 'log_ahead':
      return (
        `The log holds a time from the future, ${log_time}; the clock of the machine says ${wall_clock}. Decisions ` +
        'follow the clock. Check it, then run "svc doctor".'
      )
  }
}
