import { timestampOf } from '../../core/shared/brand.ts'
import { expect, it } from 'vitest'
import type { Stamped } from '../../core/log/event.ts'
import type { LogFields, Logger } from '../../ports/logger.ts'
import { logActivity } from './activity.ts'

const event = (type: string, payload: object): Stamped => ({
  id: `id-of-${type}`,
  seq: 1,
  type,
  ts: timestampOf('2026-02-20T12:03:05.000Z'),
  source: 'test',
  traceId: null,
  dedupeKey: null,
  payload: payload as Stamped['payload'],
  recordedAt: timestampOf('2026-02-20T12:03:05.000Z'),
})

const ENTRY = event('execution.position_opened.v1', {
  asset: 'BTC',
  direction: 'long',
  size_notional: 500,
  entry_price: 60_012.3412,
  stop_loss: 57_011.72,
  take_profit: 66_013.57,
})
const EXIT = event('execution.position_closed.v1', {
  asset: 'BTC',
  exit_price: 57_011.72,
  exit_reason: 'stop_loss',
  realized_pnl: -25.3,
  realized_pnl_pct: -0.0506,
})
const RAISED = event('system.kill_switch.v1', { level: 2, prev_level: 0, reason: 'daily loss' })
const LOWERED = event('system.kill_switch.v1', { level: 0, prev_level: 2, reason: 'over' })
const STOP = event('alert.stop_triggered', { urgency: 'immediate', message: 'Stop of long BTC hit at 57011' })
const WEIGHTS = event('alert.weights_adjusted', { urgency: 'low', message: 'Weights adjusted' })

const logged = (events: readonly Stamped[], jsonOutput: boolean) => {
  const lines: { level: string; message: string; fields: LogFields | undefined }[] = []
  const at =
    (level: string) =>
    (message: string, fields?: LogFields): void =>
      void lines.push({ level, message, fields })
  const logger: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  logActivity(events, logger, jsonOutput)
  return lines
}

it('says in one line each what was traded, and what needs attention', () => {
  expect(logged([ENTRY, EXIT, RAISED, LOWERED, STOP, WEIGHTS], false)).toEqual([
    {
      level: 'info',
      message: 'entry BTC long 500.00 USD at 60012.34 stop 57011.72 target 66013.57',
      fields: undefined,
    },
    {
      level: 'info',
      message: 'exit  BTC stop loss at 57011.72, profit -25.30 USD (-5.06 %)',
      fields: undefined,
    },
    { level: 'warn', message: 'kill switch raised to 2 (crisis): daily loss', fields: undefined },
    { level: 'info', message: 'kill switch lowered to 0 (normal): over', fields: undefined },
    { level: 'warn', message: 'alert Stop of long BTC hit at 57011', fields: undefined },
    { level: 'info', message: 'alert Weights adjusted', fields: undefined },
  ])
})

it('gives programs the members instead of the sentence', () => {
  expect(logged([EXIT], true)).toEqual([
    {
      level: 'info',
      message: 'exit',
      fields: {
        event_id: 'id-of-execution.position_closed.v1',
        type: 'execution.position_closed.v1',
        asset: 'BTC',
        exit_price: 57_011.72,
        exit_reason: 'stop_loss',
        realized_pnl: -25.3,
        realized_pnl_pct: -0.0506,
      },
    },
  ])
})

it('is silent about everything else, and says what a kill switch does once', () => {
  const rest = ['signal.curator.v1', 'market.bar.v1', 'alert.kill_switch', 'from.the.future.v9']
  expect(
    logged(
      rest.map((type) => event(type, {})),
      false,
    ),
  ).toEqual([])
})
