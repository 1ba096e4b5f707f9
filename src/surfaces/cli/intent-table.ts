import type { IntentView } from '../../core/views/orders.ts'
import type { Paint } from './style.ts'
import { bad, fields, good, quiet, table, warning, type Cell } from './table.ts'

export const intentTable = (intents: readonly IntentView[], paint: Paint): string =>
  table(COLUMNS, intents.map(rowOf), paint)

export const intentText = (intent: IntentView, paint: Paint): string =>
  fields(
    [
      ['Intent', intent.intent_id],
      ['Symbol', `${intent.symbol} ${intent.direction}`],
      ['Status', statusCell(intent)],
      ['Reasons', reasonsCell(intent)],
      ['Position', intent.position_id ?? quiet('none')],
    ],
    paint,
  )

const COLUMNS = [
  { title: 'Symbol' },
  { title: 'Direction' },
  { title: 'Status' },
  { title: 'Size %', align: 'right' },
  { title: 'Conviction', align: 'right' },
  { title: 'Reasons' },
  { title: 'Valid until' },
  { title: 'Intent' },
] as const

const rowOf = (intent: IntentView): readonly Cell[] => [
  intent.symbol,
  intent.direction,
  statusCell(intent),
  (intent.size_pct * 100).toFixed(2),
  intent.conviction_score.toFixed(1),
  reasonsCell(intent),
  intent.valid_until,
  quiet(intent.intent_id),
]

const statusCell = ({ status }: IntentView): Cell => {
  switch (status) {
    case 'awaiting_approval':
      return warning(status)
    case 'filled':
      return good(status)
    case 'rejected':
    case 'expired':
      return bad(status)
    case 'ready':
    case 'executing':
      return status
  }
}

const reasonsCell = ({ reasons }: IntentView): Cell =>
  reasons.length === 0 ? quiet('none') : reasons.join(', ')
