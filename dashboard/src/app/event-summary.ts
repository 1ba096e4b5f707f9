import type { EventItem } from '../api/types.ts'
import { formatMember, formatPlainMember, formatWords } from '../ui/format.ts'

/** The symbol of an event; null if it has none. */
export const symbolOf = ({ payload }: EventItem): string | null => {
  const symbol = payload['symbol'] ?? payload['asset'] ?? payload['stablecoin']
  return typeof symbol === 'string' && symbol !== '' ? symbol : null
}

/** The direction that a signal states for itself; null if it has none. */
export const directionOf = ({ payload }: EventItem): string | null => {
  const direction = payload['direction'] ?? payload['trend']
  return typeof direction === 'string' && direction.length <= 10 ? direction : null
}

/** The strength that a signal states for itself, as the service reads it. */
export const strengthOf = ({ payload }: EventItem): number | null => {
  for (const name of ['conviction', 'score', 'consensus_score', 'magnitude']) {
    const value = payload[name]
    if (typeof value === 'number') return value
  }
  return null
}

const NAMES_SKIPPED = /(^|_)(id|ids|ts|at|hash|key|signature|version)$/
const SKIPPED = new Set(['symbol', 'asset', 'direction', 'trend', 'node_id', 'feed', 'mode'])
const MEMBERS_MAX = 4

/** Members to show first, by type of the event, where not all fit. */
const FIRST_BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  'brain.conviction': ['direction', 'effective_conviction', 'confidence', 'coverage'],
  'brain.cycle': ['trigger', 'regime', 'intents', 'duration_ms'],
  'execution.order_filled': ['fill_price', 'fill_size', 'fee_usd', 'remaining_size'],
  'execution.order_submitted': ['side', 'quantity', 'reference_price', 'venue'],
  'execution.position_closed': ['exit_reason', 'exit_price', 'realized_pnl', 'fees_usd'],
  'execution.position_opened': ['direction', 'entry_price', 'quantity', 'size_notional'],
  'market.bar': ['open', 'high', 'low', 'close'],
}

/** An event in one line: its text if it has any, else its first numbers. The text is untrusted. */
export const summaryOf = ({ type, payload }: EventItem): string => {
  for (const name of ['message', 'rationale', 'reason', 'note', 'error', 'resource']) {
    const text = payload[name]
    if (typeof text === 'string' && text.trim() !== '') return text.slice(0, 300)
  }
  const isOfSignal = type.startsWith('signal.')
  const first = FIRST_BY_TYPE[type.split('.').slice(0, 2).join('.')]
  const members = first?.map((name) => [name, payload[name]] as const) ?? Object.entries(payload)
  return members
    .filter(([name]) => first !== undefined || (!SKIPPED.has(name) && !NAMES_SKIPPED.test(name)))
    .flatMap(([name, value]) => {
      // Authors outside the project name the members of their signals, so the unit is unknown.
      if (typeof value === 'number')
        return [isOfSignal ? formatPlainMember(name, value) : formatMember(name, value)]
      const text = shortText(value)
      return text === null ? [] : [`${formatWords(name)} ${text}`]
    })
    .slice(0, MEMBERS_MAX)
    .join(' · ')
}

const shortText = (value: unknown): string | null => {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'string' && value !== '' && value.length <= 24 ? value : null
}
