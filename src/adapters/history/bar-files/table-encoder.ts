import type { SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { TableCell, TableColumn, TableColumnType, TableEncoder } from '../../../ports/bar-history.ts'

/** Encodes any table as Parquet, one row group per call: memory does not grow with the table. */
export const createTableEncoder = (columns: readonly TableColumn[]): TableEncoder => {
  const writer = new ByteWriter()
  const schema: SchemaElement[] = [
    { name: 'rows', num_children: columns.length },
    ...columns.map(({ name, type }) => ({ name, repetition_type: 'OPTIONAL', ...ELEMENTS[type] }) as const),
  ]
  const parquet = new ParquetWriter({ writer, schema, createdBy: 'signal-engine' })
  /** The bytes written since the last call. The writer keeps counting its position in the file. */
  const taken = (): Uint8Array => {
    const bytes = writer.getBytes().slice()
    writer.index = 0
    return bytes
  }
  return {
    add: async (rows) => {
      if (rows.length === 0) return taken()
      await parquet.write({
        columnData: columns.map(({ name, type }, place) => ({
          name,
          data: rows.map((row) => valueOf(row[place] ?? null, type)),
        })),
        rowGroupSize: rows.length,
      })
      return taken()
    },
    end: async () => {
      await parquet.finish()
      return taken()
    },
  }
}

const ELEMENTS: Readonly<Record<TableColumnType, Omit<SchemaElement, 'name'>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  number: { type: 'DOUBLE' },
  integer: { type: 'INT64' },
  flag: { type: 'BOOLEAN' },
  time: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
}

const valueOf = (cell: TableCell, type: TableColumnType): unknown => {
  if (cell === null) return null
  switch (type) {
    case 'text':
      return String(cell)
    case 'number':
      return Number(cell)
    case 'integer':
      return BigInt(cell)
    case 'flag':
      return Boolean(cell)
    case 'time':
      return new Date(String(cell))
  }
}
