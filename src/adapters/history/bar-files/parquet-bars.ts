import { readFile } from 'node:fs/promises'
import { parquetMetadata, parquetRead, type FileMetaData, type ParquetParsers } from 'hyparquet'
import { ByteWriter, parquetWrite } from 'hyparquet-writer'
import type { HistoryBar } from '../../../core/market/history/series.ts'
import { HistoryError } from '../../../ports/bar-history.ts'

// Bars as one plain Parquet table, for every reader of Parquet: open_time (milliseconds, UTC) and five doubles.

const VALUE_COLUMNS = ['open', 'high', 'low', 'close', 'volume'] as const
const COLUMNS = ['open_time', ...VALUE_COLUMNS] as const

/** Encodes bars in the given order. `note` is stored in the file, under our name. */
export const encodeBars = async (bars: readonly HistoryBar[], note: string): Promise<Uint8Array> => {
  const writer = new ByteWriter()
  await parquetWrite({
    writer,
    schema: [
      { name: 'bars', num_children: 1 + VALUE_COLUMNS.length },
      {
        name: 'open_time',
        type: 'INT64',
        repetition_type: 'REQUIRED',
        converted_type: 'TIMESTAMP_MILLIS',
        logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
      },
      ...VALUE_COLUMNS.map((name) => ({ name, type: 'DOUBLE', repetition_type: 'REQUIRED' }) as const),
    ],
    columnData: [
      {
        name: 'open_time',
        data: BigInt64Array.from(bars, ({ openMs }) => BigInt(openMs)),
        // Times at equal distances compress to almost nothing.
        encoding: 'DELTA_BINARY_PACKED',
      },
      ...VALUE_COLUMNS.map((name) => ({ name, data: Float64Array.from(bars, (bar) => bar[name]) })),
    ],
    rowGroupSize: ROW_GROUP_ROWS,
    kvMetadata: [{ key: NOTE_KEY, value: note }],
    createdBy: 'signal-engine',
  })
  return writer.getBytes()
}

/** More than a month of minutes: usually one group per file. */
const ROW_GROUP_ROWS = 100_000
const NOTE_KEY = 'signal-engine'

/** Bars in the order of the file. */
export const readBarFile = async (path: string): Promise<readonly HistoryBar[]> =>
  explained(path, async () => {
    const file = await bufferOf(path)
    const metadata = parquetMetadata(file)
    assertColumns(metadata)
    const columns = new Map<string, Float64Array>()
    const length = Number(metadata.num_rows)
    await parquetRead({
      file: asyncBufferOf(file),
      metadata,
      columns: [...COLUMNS],
      parsers: TIMES_AS_NUMBERS,
      onChunk: ({ columnName, columnData, rowStart }) => {
        const values = columns.get(columnName) ?? new Float64Array(length)
        for (let index = 0; index < columnData.length; index += 1)
          values[rowStart + index] = Number(columnData[index] ?? Number.NaN)
        columns.set(columnName, values)
      },
    })
    const [times, open, high, low, close, volume] = COLUMNS.map((name) => columns.get(name))
    return Array.from({ length }, (_, index) => ({
      openMs: numberAt(times, index),
      open: numberAt(open, index),
      high: numberAt(high, index),
      low: numberAt(low, index),
      close: numberAt(close, index),
      volume: numberAt(volume, index),
    }))
  })

const numberAt = (values: ArrayLike<number> | undefined, index: number): number =>
  values?.[index] ?? Number.NaN

export interface BarFileSummary {
  readonly bars: number
  readonly bytes: number
  /** Open times of the first and the last bar. Null if the file has no statistics. */
  readonly firstOpenMs: number | null
  readonly lastOpenMs: number | null
  /** Note that was stored with the bars; null for files of other programs. */
  readonly note: string | null
}

/** Reads the footer only. */
export const summaryOfBarFile = async (path: string): Promise<BarFileSummary> =>
  explained(path, async () => {
    const file = await bufferOf(path)
    const metadata = parquetMetadata(file)
    assertColumns(metadata)
    const note = metadata.key_value_metadata?.find(({ key }) => key === NOTE_KEY)?.value ?? null
    const statistics = metadata.row_groups.flatMap(({ columns }) =>
      columns.flatMap(({ meta_data: column }) =>
        column?.path_in_schema[0] === 'open_time' ? [column.statistics] : [],
      ),
    )
    return {
      bars: Number(metadata.num_rows),
      bytes: file.byteLength,
      firstOpenMs: timeOf(statistics[0]?.min_value),
      lastOpenMs: timeOf(statistics.at(-1)?.max_value),
      note,
    }
  })

const timeOf = (value: unknown): number | null => (value instanceof Date ? value.getTime() : null)

const assertColumns = ({ schema }: FileMetaData): void => {
  const names = new Set(schema.map(({ name }) => name))
  const missing = COLUMNS.filter((name) => !names.has(name))
  if (missing.length > 0) throw new Error(`it has no column ${missing.join(', ')}`)
}

const explained = async <T>(path: string, read: () => Promise<T>): Promise<T> => {
  try {
    return await read()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new HistoryError(`${path} is not a file of bars: ${reason}`, { cause: error })
  }
}

const bufferOf = async (path: string): Promise<ArrayBuffer> => {
  const bytes = await readFile(path)
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
}

const asyncBufferOf = (file: ArrayBuffer) => ({
  byteLength: file.byteLength,
  slice: (start: number, end?: number) => file.slice(start, end),
})

const TIMES_AS_NUMBERS: Partial<ParquetParsers> = {
  timestampFromMilliseconds: (value) => Number(value),
  timestampFromMicroseconds: (value) => Number(value / 1000n),
  timestampFromNanoseconds: (value) => Number(value / 1_000_000n),
}
