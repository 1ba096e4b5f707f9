import type { CycleView } from '../../core/views/brain.ts'
import type { Paint } from './style.ts'
import { bad, fields, good, quiet, table, warning, type Cell } from './table.ts'

/** What a cycle came to, then every trade it wants and what became of that. */
export const cycleText = (cycle: CycleView, paint: Paint): string => {
  const { cycle_id, ts, regime, kill_switch_level, intents } = cycle
  const summary = fields(
    [
      ['Cycle', cycle_id],
      ['Started at', ts],
      ['Regime', regime ?? quiet('unknown')],
      ['Kill switch', levelCell(kill_switch_level)],
      ['Intents', intents.length === 0 ? quiet('none') : String(intents.length)],
    ],
    paint,
  )
  return intents.length === 0 ? summary : `${summary}\n${table(INTENT_COLUMNS, intents.map(rowOf), paint)}`
}

const INTENT_COLUMNS = [
  { title: 'Symbol' },
  { title: 'Direction' },
  { title: 'Conviction', align: 'right' },
  { title: 'Size %', align: 'right' },
  { title: 'Status' },
  { title: 'Reasons' },
  { title: 'Intent' },
] as const

const rowOf = (intent: CycleView['intents'][number]): readonly Cell[] => [
  intent.symbol,
  intent.direction,
  intent.conviction_score.toFixed(1),
  (intent.size_pct * 100).toFixed(2),
  intent.status === 'rejected' ? bad(intent.status) : good(intent.status),
  intent.reasons.join(', '),
  quiet(intent.intent_id),
]

export const levelCell = (level: number): Cell => {
  if (level === 0) return good('level 0')
  return level === 1 ? warning('level 1') : bad(`level ${level}`)
}
