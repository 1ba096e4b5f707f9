import type { EventItem } from '../../api/log.ts'
import { formatNumber, formatWords } from '../../ui/format.ts'

/** What an event is about, if it is about a symbol. */
export const symbolOf = ({ payload }: EventItem): string | null => {
  const symbol = payload['symbol'] ?? payload['asset'] ?? payload['stablecoin']
  return typeof symbol === 'string' && symbol !== '' ? symbol : null
}

const NAMES_SKIPPED = /(^|_)(id|ids|ts|at|hash|key|signature|version)$/
const SKIPPED = new Set(['symbol', 'asset', 'direction', 'trend', 'node_id', 'feed', 'mode'])
const MEMBERS_MAX = 4

/** What an event says, in one line: its words if it has any, else its first numbers. A stranger may have written it. */
export const summaryOf = ({ payload }: EventItem): string => {
  for (const name of ['message', 'rationale', 'reason', 'note', 'error', 'resource']) {
    const text = payload[name]
    if (typeof text === 'string' && text.trim() !== '') return text.slice(0, 300)
  }
  return Object.entries(payload)
    .filter(([name]) => !SKIPPED.has(name) && !NAMES_SKIPPED.test(name))
    .flatMap(([name, value]) => {
      const text = shortText(value)
      return text === null ? [] : [`${formatWords(name)} ${text}`]
    })
    .slice(0, MEMBERS_MAX)
    .join(' · ')
}

const shortText = (value: unknown): string | null => {
  if (typeof value === 'number') return formatNumber(value, Math.abs(value) < 1 ? 4 : 2)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'string' && value !== '' && value.length <= 24 ? value : null
}
