import { useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import type { EventItem } from '../api/types.ts'
import type { Tone } from '../ui/badge.tsx'
import { formatPrice, formatReason, formatUsd, formatWords, textOf } from '../ui/format.ts'
import { LEVELS } from './kill-switch.tsx'
import { useAction } from './use-action.ts'

/** An alert as a line. Its tone shows the outcome, not the urgency. */
export interface AlertLine {
  readonly tone: Tone
  /** Name in a word or two. */
  readonly name: string
  /** Text of the alert, which may contain untrusted text. */
  readonly text: string
  readonly positionId: string | null
}

export const lineOf = ({ type, payload }: Pick<EventItem, 'type' | 'payload'>): AlertLine => {
  const id = payload['position_id']
  const positionId = typeof id === 'string' && id !== '' ? id : null
  const message = formatReason(textOf(payload['message'], type))
  switch (type) {
    case 'alert.stop_triggered':
    case 'alert.target_hit':
      return { ...exitLine(type, payload), positionId }
    case 'alert.kill_switch': {
      const level = Number(payload['level'])
      const name = `kill switch raised to ${level}, ${(LEVELS[level]?.name ?? '').toLowerCase()}`
      return {
        tone: level > 1 ? 'bad' : 'warn',
        name,
        text: formatReason(textOf(payload['reason'], message)),
        positionId,
      }
    }
    case 'alert.regime_shift':
      return {
        tone: payload['regime'] === 'CRISIS' ? 'bad' : 'neutral',
        name: 'regime',
        text: message,
        positionId,
      }
    case 'alert.execution':
      return {
        tone: 'bad',
        name: formatWords(textOf(payload['cause'], 'execution')),
        text: message,
        positionId,
      }
    default:
      return {
        tone: payload['urgency'] === 'immediate' ? 'warn' : 'neutral',
        name: formatWords(type.replace(/^alert\./, '')),
        text: message,
        positionId,
      }
  }
}

type ExitAlert = 'alert.stop_triggered' | 'alert.target_hit'

const exitLine = (type: ExitAlert, payload: EventItem['payload']): Omit<AlertLine, 'positionId'> => {
  const { realized_pnl: pnl, entry_price: entry, mark_price: mark } = payload
  const what = `${textOf(payload['direction'])} ${textOf(payload['symbol'])}`
  const hit = type === 'alert.target_hit' ? 'target hit' : 'stop hit'
  const prices =
    typeof entry === 'number' && typeof mark === 'number'
      ? `, from $${formatPrice(entry)} to $${formatPrice(mark)}`
      : ''
  if (typeof pnl !== 'number') {
    return {
      tone: 'bad',
      name: `${hit}, not closed`,
      text: `${what}${prices}: the kill switch blocks the exit`,
    }
  }
  const tone = pnl > 0 ? 'good' : pnl < 0 ? 'bad' : 'neutral'
  return { tone, name: hit, text: `${what} closed with ${formatUsd(pnl, { plus: true })}${prices}` }
}

/** Alerts that are not acknowledged yet, newest first. */
export const useOpenAlerts = () => useQuery(queries.alerts())

/** Acknowledges alerts for all tabs and users, since the acknowledgement is an event of the log. */
export const useAcknowledge = () =>
  useAction({
    send: (alert_ids: readonly string[], headers) =>
      api.POST('/alerts/acknowledge', { body: { alert_ids: [...alert_ids] }, headers }),
    done: ({ acknowledged }) =>
      acknowledged.length === 1 ? 'Acknowledged' : `${acknowledged.length} alerts acknowledged`,
    refreshes: ['alerts'],
  })
