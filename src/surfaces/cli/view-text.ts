import { age, amount, levelCell, listCell, percent, plainNumber, price, quiet, usd } from './table.ts'
import { fields, table, type Cell, type Column, type Row } from './table.ts'
import type { Style, Text } from './terminal.ts'

/**
 * Views as text. `list` shows a row per view, `details` a line per member of one view. Both take names of members: title
 * and format of a member follow from its name, which ends in its unit, such as `fees_usd`, `hit_rate` or `opened_at`.
 *
 *     list(orders, ['symbol', 'status', ['submitted_at', 'Age'], idColumn('Id', ({ order_id }) => order_id)])
 *     details(order, ['symbol', 'reference_price', ['Venue', warning(order.venue)]])
 */

type Member<View> = Extract<keyof View, string>

/** A member, a member with another title, or a column with cells of its own. */
type ListColumn<View> = Member<View> | readonly [Member<View>, string] | Column<View>

/** A heading and a row per view; `none` if there are no views. */
export const list = <View extends object>(
  views: readonly View[],
  columns: readonly ListColumn<NoInfer<View>>[],
  none = '',
): Text =>
  table(
    views,
    columns.map((column): Column<View> => {
      if (typeof column === 'string') return memberColumn(views, column, titleOf(column).replace(/ at$/, ''))
      return 'cells' in column ? column : memberColumn(views, column[0], column[1])
    }),
    none,
  )

/** Names and values; without `rows`, all members but objects and lists of objects. A null row is left out. */
export const details = <View extends object>(
  view: View,
  rows: readonly (Member<View> | Row)[] = plainMembers(view),
): Text =>
  fields(rows.map((row) => (typeof row === 'string' ? [titleOf(row), memberCell(row, view[row])] : row)))

const plainMembers = <View extends object>(view: View): readonly Member<View>[] =>
  (Object.keys(view) as Member<View>[]).filter((name) => {
    const value: unknown = view[name]
    const one: unknown = Array.isArray(value) ? value[0] : value
    return typeof one !== 'object' || one === null
  })

const memberColumn = <View>(views: readonly View[], name: Member<View>, title: string): Column<View> => {
  const isTime = TIME.test(name)
  const isNumber = isTime || views.some((view) => typeof view[name] === 'number')
  return {
    title,
    cells: (items, style) =>
      items.map((item) => (isTime ? ageCell(name, item[name], style) : memberCell(name, item[name], amount))),
    align: isNumber ? 'right' : 'left',
    shrinks: !isNumber,
  }
}

const TIME = /(^|_)(at|until)$/

const ageCell = (name: string, at: unknown, { nowMs }: Style): Cell => {
  if (typeof at !== 'string') return quiet('never')
  return name.endsWith('until') && Date.parse(at) <= nowMs ? quiet('over') : age(at, nowMs)
}

/** `registered_at`: Registered at. The unit of a value is not part of its title. */
const titleOf = (name: string): string => {
  const words = name.replace(/_(id|usd|pct|level)$/, '').replaceAll('_', ' ')
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}

/** The value of a member, by the unit in its name. */
const memberCell = (name: string, value: unknown, money = usd): Cell => {
  if (value === null || value === undefined || value === '') return quiet(TIME.test(name) ? 'never' : 'none')
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return listCell(value.map(String))
  if (typeof value !== 'number') return typeof value === 'string' ? value : JSON.stringify(value)
  if (/^kill_switch(_level)?$/.test(name)) return levelCell(value)
  const [, format] = UNITS.find(([unit]) => unit.test(name)) ?? [null, plainNumber]
  return format === usd ? money(value) : format(value)
}

/** Formats of numbers; any other number is a count or a ratio. */
const UNITS: readonly (readonly [RegExp, (value: number) => string])[] = [
  [/_usd$/, usd],
  [/_(pct|rate|return|share)$|drawdown$/, percent],
  [/_price$/, price],
  [/(score|karma)$/, (value) => value.toFixed(1)],
  [/^sharpe$/, (value) => value.toFixed(2)],
]
