import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import { BAR_MEMBERS, SIDE_MEMBERS, type BarMember } from './file-bar.ts'

/** Where in a row each thing stands. */
export type Layout =
  | { readonly kind: 'long'; readonly ts: number; readonly symbol: number; readonly places: Places }
  | { readonly kind: 'wide'; readonly ts: number; readonly groups: readonly WideGroup[] }

/** Column of each member that the file has. */
export type Places = ReadonlyMap<BarMember, number>

interface WideGroup {
  /** As the file names it: `binance:BTC/USDT`. */
  readonly title: string
  readonly canonical: string
  readonly places: Places
}

/** Null when these columns are none of the forms we read. */
export const layoutOf = (columns: readonly string[]): Layout | null => {
  const names = columns.map((column) => column.trim().toLowerCase())
  const ts = names.findIndex((name) => TIME_COLUMNS.has(name))
  if (ts === -1) return null
  const symbol = names.indexOf('symbol')
  const places = placesIn(names)
  if (symbol !== -1 && isComplete(places)) return { kind: 'long', ts, symbol, places }
  const groups = wideGroupsOf(columns)
  return groups.length === 0 ? null : { kind: 'wide', ts, groups }
}

export const WANTED_COLUMNS =
  'ts,symbol,open,high,low,close,volume or timestamp and columns such as binance:BTC/USDT:open'

const TIME_COLUMNS: ReadonlySet<string> = new Set(['ts', 'timestamp', 'open_ts'])

const MEMBERS: readonly BarMember[] = [...BAR_MEMBERS, ...SIDE_MEMBERS]

const placesIn = (names: readonly string[]): Places =>
  new Map(
    MEMBERS.flatMap((member): [BarMember, number][] => {
      const place = names.indexOf(member)
      return place === -1 ? [] : [[member, place]]
    }),
  )

const isComplete = (places: Places): boolean => BAR_MEMBERS.every((member) => places.has(member))

const wideGroupsOf = (columns: readonly string[]): readonly WideGroup[] => {
  const groups = new Map<string, string[]>()
  columns.forEach((column, place) => {
    const { title, field } = wideNameOf(column)
    const fields = groups.get(title) ?? []
    fields[place] = field
    groups.set(title, fields)
  })
  return [...groups].flatMap(([title, fields]) => {
    const places = placesIn(Array.from(fields, (field: string | undefined) => field ?? ''))
    const canonical = canonicalSymbol(title.slice(title.indexOf(':') + 1))
    return canonical === '' || !isComplete(places) ? [] : [{ title, canonical, places }]
  })
}

/** `<venue>:<BASE>/<QUOTE>:<field>`; a pair may hold colons itself (`BTC/USDT:USDT`). */
const wideNameOf = (column: string): { readonly title: string; readonly field: string } => {
  const name = column.trim()
  const end = name.lastIndexOf(':')
  return end <= name.indexOf(':')
    ? { title: '', field: '' }
    : { title: name.slice(0, end), field: name.slice(end + 1).toLowerCase() }
}
