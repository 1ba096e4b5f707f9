import { clockJumpKey } from '../core/operations/clock-jump.ts'
import { timestampAt } from '../core/shared/time.ts'
import { watchClock, type ClockMonitor } from '../engine/clock-monitor.ts'
import type { DriverDependencies } from './drivers.ts'

/** Records jumps of the clock of the machine; the event raises the kill switch. */
export const openClockMonitor = ({
  environment,
  engine,
  configuration,
  logger,
  timer,
}: Pick<
  DriverDependencies,
  'environment' | 'engine' | 'configuration' | 'logger' | 'timer'
>): Promise<ClockMonitor> => {
  const limitSeconds = (): number => configuration().kill_switch.l1_clock_jump_seconds
  return watchClock({
    time: environment.time,
    timer,
    logTime: () => engine.state.recordedAt,
    jumpMsMax: () => limitSeconds() * 1000,
    onJump: async ({ cause, jumpMs, wallMs, logTime: log_time }) => {
      const jump = {
        node_id: engine.nodeId,
        cause,
        jump_seconds: Math.round(jumpMs) / 1000,
        limit_seconds: limitSeconds(),
        wall_clock: timestampAt(wallMs),
        log_time,
      }
      logger.error(
        cause === 'wall_clock'
          ? 'the clock of the machine jumped; the service goes on by the time that has passed: restart it to follow'
          : 'the log holds a time from the future; decisions follow the clock: see "svc doctor"',
        { jump_seconds: jump.jump_seconds, wall_clock: jump.wall_clock, log_time },
      )
      const key = clockJumpKey(jump)
      if (key !== undefined && (await engine.log.findByDedupeKeys([key])).size > 0) return
      await engine.execute({ kind: 'record-clock-jump', jump })
    },
    onError: (what, error) => logger.error(what, { error }),
  })
}
