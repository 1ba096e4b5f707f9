import type { PositionView } from '../../core/views/positions.ts'
import type { Paint } from './style.ts'
import { bad, good, quiet, table, type Cell } from './table.ts'

/** What is held beside what became of it: closed positions show their exit, open ones where they stand. */
export const positionTable = (positions: readonly PositionView[], paint: Paint): string =>
  table(COLUMNS, positions.map(rowOf), paint)

const COLUMNS = [
  { title: 'Asset' },
  { title: 'Direction' },
  { title: 'Status' },
  { title: 'Size USD', align: 'right' },
  { title: 'Entry', align: 'right' },
  { title: 'Exit or mark', align: 'right' },
  { title: 'P/L USD', align: 'right' },
  { title: 'Opened at' },
  { title: 'Position' },
] as const

const rowOf = (position: PositionView): readonly Cell[] => [
  position.asset,
  position.direction,
  position.status,
  position.size_notional.toFixed(2),
  String(position.entry_price),
  numberCell(position.exit_price ?? position.mark_price),
  profitCell(position.realized_pnl ?? position.unrealized_pnl),
  position.opened_at,
  quiet(position.id),
]

const numberCell = (value: number | null): Cell => (value === null ? quiet('unknown') : String(value))

const profitCell = (usd: number | null): Cell => {
  if (usd === null) return quiet('unknown')
  return usd < 0 ? bad(usd.toFixed(2)) : good(usd.toFixed(2))
}
