import type { Style, Text, Tone } from './terminal.ts'

export type Cell = string | number | { readonly text: string; readonly tone: Tone }

/** A name and its value, for `fields`; null: the row is left out. */
export type Row = readonly [string, Cell | null]

/** A column of a table, and what it shows of each item. */
export interface Column<Item> {
  readonly title: string
  readonly cells: (items: readonly Item[], style: Style) => readonly Cell[]
  readonly align: 'left' | 'right'
  /** Cut where the table is wider than the screen. */
  readonly shrinks: boolean
}

const columnOf =
  (align: 'left' | 'right', shrinks: boolean) =>
  <Item>(title: string, cell: (item: Item, index: number) => Cell): Column<Item> => ({
    title,
    cells: (items) => items.map(cell),
    align,
    shrinks,
  })

export const left = columnOf('left', false)
export const right = columnOf('right', false)
export const shrinking = columnOf('left', true)

/** Column of ids, each as short as it is unique. Commands accept them instead of the whole id. */
export const idColumn = <Item>(title: string, idOf: (item: Item) => string): Column<Item> => ({
  title,
  cells: (items) => {
    const ids = items.map(idOf)
    return ids.map(shortIds(ids)).map(quiet)
  },
  align: 'left',
  shrinks: false,
})

export const good = (text: string): Cell => ({ text, tone: 'good' })
export const warning = (text: string): Cell => ({ text, tone: 'warning' })
export const bad = (text: string): Cell => ({ text, tone: 'bad' })
export const quiet = (text: string): Cell => ({ text, tone: 'quiet' })

/** A level of the kill switch. */
export const levelCell = (level: number, text = `level ${level}`): Cell => {
  if (level === 0) return good(text)
  return level === 1 ? warning(text) : bad(text)
}

export const listCell = (texts: readonly string[], none = 'none'): Cell =>
  texts.length === 0 ? quiet(none) : texts.join(', ')

/** Names on the left, values on the right; long values continue below. */
export const fields =
  (rows: readonly Row[]): Text =>
  (style) => {
    const shownRows = rows.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
    const width = widest(shownRows.map(([name]) => name))
    const indent = ' '.repeat(width + GAP.length)
    return shownRows
      .map(([name, value]) => {
        const text = textOf(value)
        // A long word, such as a path or a hash, goes below its name in one piece.
        const isBelow = text.split(' ').some((word) => lengthOf(word) > style.width - indent.length)
        const lines = wrapped(text, style.width - (isBelow ? BELOW.length : indent.length))
        const shown = lines.map((line) => style.paint(toneOf(value), line))
        return isBelow
          ? `${[style.paint('quiet', printable(name)), ...shown].join(`\n${BELOW}`)}\n`
          : `${pad(quiet(name), width, 'left', style)}${GAP}${shown.join(`\n${indent}`)}\n`
      })
      .join('')
  }

/** A heading, then a row per item. Columns are as wide as their cells; those that may shrink give way to the screen. */
export const table =
  <Item>(items: readonly Item[], columns: readonly Column<NoInfer<Item>>[], none = ''): Text =>
  (style) => {
    if (items.length === 0 && none !== '') return `${none}\n`
    const heading = columns.map(({ title }): Cell => ({ text: title, tone: 'heading' }))
    const shown = columns.map((column) => column.cells(items, style))
    const lines = [heading, ...items.map((_, row) => shown.map((column) => column[row] ?? ''))]
    const widths = fitted(
      columns,
      columns.map((_, index) => widest(lines.map((line) => textOf(line[index] ?? '')))),
      style.width,
    )
    return lines
      .map((line) => {
        const cells = columns.map(({ align }, index) =>
          pad(line[index] ?? '', widths[index] ?? 0, align, style),
        )
        return `${cells.join(GAP).trimEnd()}\n`
      })
      .join('')
  }

/** Texts with a blank line between them; those that are null are left out. */
export const paragraphs =
  (...texts: readonly (Text | null)[]): Text =>
  (style) =>
    texts.flatMap((text) => (text === null ? [] : text(style))).join('\n')

/**
 * Text from the log may come from anywhere: what would move the cursor, change colours or turn the direction of reading
 * is shown as its code.
 */
export const printable = (text: string): string =>
  text.replaceAll(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

export const usd = (value: number): string => `${value.toFixed(2)} USD`

/** An amount of USD in a column: cents while they matter. */
export const amount = (value: number): string => value.toFixed(Math.abs(value) < 100_000 ? 2 : 0)

export const percent = (share: number): string => `${(share * 100).toFixed(2)} %`

export const signed = (value: number, digits: number): string =>
  `${value > 0 ? '+' : ''}${value.toFixed(digits)}`

export const profit = (value: number): Cell => (value < 0 ? bad(usd(value)) : good(usd(value)))

/** Prices span many magnitudes: cents above 1000, else six digits. */
export const price = (value: number): string =>
  Math.abs(value) >= 1000 ? value.toFixed(2) : plainNumber(value)

/** At most six significant digits, never in exponential form. */
export const plainNumber = (value: number): string => {
  const rounded = Number(value.toPrecision(6))
  return Math.abs(rounded) < 1e-6 && rounded !== 0 ? rounded.toFixed(12).replace(/0+$/, '') : String(rounded)
}

/** How long ago, or how far ahead: 45s, 3m, 2h, 5d, "in 4m". */
export const age = (timestamp: string, nowMs: number): string => {
  const seconds = Math.round((nowMs - Date.parse(timestamp)) / 1000)
  const [size, unit] = AGE_UNITS.find(([, , upTo]) => Math.abs(seconds) < upTo) ?? [86_400, 'd']
  const text = `${Math.floor(Math.abs(seconds) / size)}${unit}`
  return seconds < 0 ? `in ${text}` : text
}

const AGE_UNITS = [
  [1, 's', 60],
  [60, 'm', 3600],
  [3600, 'h', 48 * 3600],
] as const

const SHORT_ID_LENGTH_MIN = 8

/** The shortest distinct beginnings of these ids; commands accept them instead of the whole id. */
export const shortIds = (ids: readonly string[]): ((id: string) => string) => {
  const distinct = new Set(ids)
  let length = SHORT_ID_LENGTH_MIN
  while (new Set([...distinct].map((id) => id.slice(0, length))).size < distinct.size) length += 1
  return (id) => id.slice(0, length)
}

const GAP = '  '
const BELOW = '    '
const SHRUNK_WIDTH_MIN = 6

/** Takes from the widest column that may shrink, until all fit or none can give more. */
const fitted = (
  columns: readonly { readonly shrinks: boolean }[],
  widths: readonly number[],
  widthMax: number,
): number[] => {
  const fitting = [...widths]
  const excess = (): number =>
    fitting.reduce((sum, width) => sum + width, (columns.length - 1) * GAP.length) - widthMax
  while (excess() > 0) {
    const shrinkable = fitting.map((width, index) => (columns[index]?.shrinks === true ? width : 0))
    const largest = Math.max(...shrinkable)
    if (largest <= SHRUNK_WIDTH_MIN) break
    fitting[shrinkable.indexOf(largest)] = largest - 1
  }
  return fitting
}

// oxlint-disable-next-line no-control-regex -- control characters are exactly what this looks for
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

const textOf = (cell: Cell): string => printable(typeof cell === 'object' ? cell.text : String(cell))

const toneOf = (cell: Cell): Tone => (typeof cell === 'object' ? cell.tone : 'plain')

const pad = (cell: Cell, width: number, align: 'left' | 'right', { paint }: Style): string => {
  const text = cut(textOf(cell), width)
  const blanks = ' '.repeat(Math.max(0, width - lengthOf(text)))
  const shown = paint(toneOf(cell), text)
  return align === 'left' ? shown + blanks : blanks + shown
}

const cut = (text: string, width: number): string =>
  lengthOf(text) <= width
    ? text
    : `${charactersOf(text)
        .slice(0, width - 1)
        .join('')}…`

/** At blanks only: an id or a path stays in one piece. */
const wrapped = (text: string, width: number): readonly string[] => {
  if (lengthOf(text) <= width) return [text]
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || lengthOf(last) + 1 + lengthOf(word) > width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}

const widest = (texts: readonly string[]): number =>
  texts.reduce((width, text) => Math.max(width, lengthOf(printable(text))), 0)

/** In characters as people see them. */
const lengthOf = (text: string): number => (ASCII.test(text) ? text.length : charactersOf(text).length)

const charactersOf = (text: string): readonly string[] =>
  Array.from((segmenter ??= new Intl.Segmenter()).segment(text), ({ segment }) => segment)

const ASCII = /^[ -~]*$/

// Made on first use: making it takes longer than everything else that a table does.
let segmenter: Intl.Segmenter | undefined
