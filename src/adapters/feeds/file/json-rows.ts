import { SIDE_MEMBERS } from './file-bar.ts'

/** The columns that rows like this one have; null when it is no row. */
export const jsonColumnsOf = (line: string): readonly string[] | null => {
  const row = objectIn(line)
  if (row === null) return null
  const names = Object.keys(row)
  // Side members may be missing in the first row and there in the second.
  return names.includes('symbol') ? [...new Set([...names, ...SIDE_MEMBERS])] : names
}

/** The cells of a line, or what is wrong with it. */
export const jsonCellsOf =
  (columns: readonly string[]) =>
  (line: string): readonly string[] | string => {
    const row = objectIn(line)
    if (row === null) return 'no JSON object'
    return columns.map((column) => cellOf(row[column]))
  }

const objectIn = (line: string): Readonly<Record<string, unknown>> | null => {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null
  } catch {
    // Told to the operator as a bad row, with its line number.
    return null
  }
}

const cellOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
