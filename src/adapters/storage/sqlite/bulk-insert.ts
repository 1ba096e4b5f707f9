import { prepare, type Database, type Value } from './database.ts'

/** Takes the values of any number of rows, one after the other. */
export type BulkInsert = (values: readonly Value[]) => void

/** Rows per statement: the way into the database costs as much as the row, so many go together. */
export const ROWS_AT_ONCE = [64, 32, 16, 8, 4, 2, 1] as const

/**
 * A row that breaks a rule undoes the whole transaction, as its owner would. To undo only the statement, the database
 * would have to keep what every page of it was like before.
 */
export const INSERT = 'INSERT OR ROLLBACK INTO'

export const prepareBulkInsert = (db: Database, table: string, width: number): BulkInsert => {
  const row = `(${Array.from({ length: width }, () => '?').join(', ')})`
  const statements = ROWS_AT_ONCE.map((count) => ({
    length: count * width,
    statement: prepare(
      db,
      `${INSERT} ${table} VALUES ${Array.from({ length: count }, () => row).join(', ')}`,
    ),
  }))
  return (values) => {
    let at = 0
    for (const { length, statement } of statements) {
      for (; at + length <= values.length; at += length) statement.run(...values.slice(at, at + length))
    }
  }
}
