import { asKnown } from '../../core/events/catalogue.ts'
import type { Stamped } from '../../core/log/event.ts'
import { LEVEL_STATES } from '../../core/shared/level.ts'
import type { LogFields, Logger } from '../../ports/logger.ts'
import { percent, price, usd } from './table.ts'

/** An event that operators follow, as a line of text and as members for programs. */
interface Activity {
  readonly level: 'info' | 'warn'
  readonly kind: 'entry' | 'exit' | 'alert' | 'kill switch'
  readonly text: string
  readonly fields: LogFields
}

/** Logs one line per entry, exit, alert and change of the kill switch. Other events are not logged. */
export const logActivity = (events: readonly Stamped[], logger: Logger, jsonOutput: boolean): void => {
  for (const event of events) {
    const activity = activityOf(event)
    if (activity === null) continue
    const { level, kind, text, fields } = activity
    if (jsonOutput) logger[level](kind, { event_id: event.id, type: event.type, ...fields })
    else logger[level](`${kind.padEnd(KIND_WIDTH)} ${text}`)
  }
}

const KIND_WIDTH = 'entry'.length

/** Null for events that get no line. */
const activityOf = (stored: Stamped): Activity | null => {
  const event = asKnown(stored)
  switch (event?.type) {
    case 'execution.position_opened.v1': {
      const { asset, direction, size_notional, entry_price, stop_loss, take_profit } = event.payload
      const text = [
        `${asset} ${direction} ${usd(size_notional)} at ${price(entry_price)}`,
        ...(stop_loss === null ? [] : [`stop ${price(stop_loss)}`]),
        ...(take_profit === null ? [] : [`target ${price(take_profit)}`]),
      ].join(' ')
      const fields = { asset, direction, size_notional, entry_price, stop_loss, take_profit }
      return { level: 'info', kind: 'entry', text, fields }
    }
    case 'execution.position_closed.v1': {
      const { asset, exit_price, exit_reason, realized_pnl, realized_pnl_pct } = event.payload
      const text =
        `${asset} ${exit_reason.replaceAll('_', ' ')} at ${price(exit_price)}, ` +
        `profit ${usd(realized_pnl)} (${percent(realized_pnl_pct)})`
      const fields = { asset, exit_price, exit_reason, realized_pnl, realized_pnl_pct }
      return { level: 'info', kind: 'exit', text, fields }
    }
    case 'system.kill_switch.v1': {
      const { level, prev_level, reason } = event.payload
      const verb = level > prev_level ? 'raised' : 'lowered'
      const text = `${verb} to ${level} (${LEVEL_STATES[level]}): ${reason}`
      return {
        level: level > prev_level ? 'warn' : 'info',
        kind: 'kill switch',
        text,
        fields: { kill_switch_level: level, prev_level, reason },
      }
    }
    case 'alert.execution':
    case 'alert.own_code':
    case 'alert.regime_shift':
    case 'alert.stop_triggered':
    case 'alert.target_hit':
    case 'alert.weights_adjusted': {
      const { message, urgency } = event.payload
      const level = urgency === 'immediate' ? 'warn' : 'info'
      return { level, kind: 'alert', text: message, fields: { alert: message, urgency } }
    }
    // The line of the kill switch contains the same facts as alert.kill_switch.
    default:
      return null
  }
}
