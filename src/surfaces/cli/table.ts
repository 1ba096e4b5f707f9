import type { Paint, Tone } from './style.ts'

export type Cell = string | { readonly text: string; readonly tone: Tone }

export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
}

export const good = (text: string): Cell => ({ text, tone: 'good' })
export const warning = (text: string): Cell => ({ text, tone: 'warning' })
export const bad = (text: string): Cell => ({ text, tone: 'bad' })
export const quiet = (text: string): Cell => ({ text, tone: 'quiet' })

/** Names on the left, values on the right, one line each. */
export const fields = (rows: readonly (readonly [string, Cell])[], paint: Paint): string => {
  const width = widest(rows.map(([name]) => name))
  return rows
    .map(([name, value]) => `${pad(quiet(name), width, 'left', paint)}${GAP}${shown(value, paint)}\n`)
    .join('')
}

/** A heading, then rows; columns are as wide as what stands in them. */
export const table = (
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  paint: Paint,
): string => {
  const heading = columns.map(({ title }): Cell => ({ text: title, tone: 'heading' }))
  const lines = [heading, ...rows]
  const widths = columns.map((_, index) => widest(lines.map((line) => textOf(line[index] ?? ''))))
  return lines
    .map((line) => {
      const cells = columns.map(({ align }, index) =>
        pad(line[index] ?? '', widths[index] ?? 0, align ?? 'left', paint),
      )
      return `${cells.join(GAP).trimEnd()}\n`
    })
    .join('')
}

/**
 * Text from the log may come from strangers: what would move the cursor, change colours or turn the
 * direction of reading is shown as its code.
 */
export const printable = (text: string): string =>
  text.replaceAll(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

const GAP = '  '

// oxlint-disable-next-line no-control-regex -- control characters are exactly what this looks for
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

const textOf = (cell: Cell): string => printable(typeof cell === 'string' ? cell : cell.text)

const shown = (cell: Cell, paint: Paint): string =>
  paint(typeof cell === 'string' ? 'plain' : cell.tone, textOf(cell))

const pad = (cell: Cell, width: number, align: 'left' | 'right', paint: Paint): string => {
  const blanks = ' '.repeat(Math.max(0, width - lengthOf(textOf(cell))))
  return align === 'left' ? shown(cell, paint) + blanks : blanks + shown(cell, paint)
}

const widest = (texts: readonly string[]): number =>
  texts.reduce((width, text) => Math.max(width, lengthOf(printable(text))), 0)

/** In characters as people see them. */
const lengthOf = (text: string): number =>
  PLAIN.test(text) ? text.length : [...(characters ??= new Intl.Segmenter()).segment(text)].length

/** Each of these is a character of its own. */
const PLAIN = /^[ -~]*$/

// Made where it is needed: making it takes longer than everything else that a table does.
let characters: Intl.Segmenter | undefined
