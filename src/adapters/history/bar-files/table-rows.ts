import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import zlib from 'node:zlib'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, type Compressors } from 'hyparquet'
import { jsonCellsOf, jsonColumnsOf } from '../../../core/market/history/cells.ts'
import { splitterOf } from '../../../core/market/history/import-rows.ts'
import { HistoryError } from '../../../ports/bar-history.ts'

/** A row as text, in any file format. The first row may hold the names of the columns. */
export interface TableRow {
  /** Line or row of the file, counted from 1. */
  readonly number: number
  readonly cells: readonly string[]
  /** The reason why there are no cells; null if there are cells. */
  readonly fault: string | null
}

export interface TableFile {
  /** Format, as shown to the user. */
  readonly kind: 'CSV' | 'CSV.gz' | 'JSON lines' | 'JSON lines.gz' | 'Parquet'
  rows(): AsyncIterable<readonly TableRow[]>
}

/** Detects the format of a file by its first bytes, not by its name. */
export const openTableFile = async (
  path: string,
  onProgress: (doneBytes: number, totalBytes: number) => void,
): Promise<TableFile> => {
  const { head, size } = await readHead(path)
  const begins = (mark: string): boolean => head.subarray(0, mark.length).toString('latin1') === mark
  if (size === 0) throw new HistoryError(`${path} is empty`)
  if (begins('PAR1')) return { kind: 'Parquet', rows: () => parquetRows(path, onProgress) }
  if (begins('PK\u0003\u0004')) throw new HistoryError(`${path} is a zip archive: unpack it first`)
  const isZipped = begins('\u001f\u008b')
  const text = (): Readable => {
    const file = createReadStream(path)
    let done = 0
    file.on('data', (chunk) => onProgress((done += chunk.length), size))
    if (!isZipped) return file
    // An error of the file must also end the unpacked stream.
    const unpacked = zlib.createGunzip()
    file.on('error', (error) => unpacked.destroy(error))
    return file.pipe(unpacked)
  }
  const isJson = (await firstCharacter(text(), path)) === '{'
  return {
    kind: `${isJson ? 'JSON lines' : 'CSV'}${isZipped ? '.gz' : ''}`,
    rows: () => (isJson ? jsonRows(text(), path) : csvRows(text(), path)),
  }
}

const readHead = async (path: string): Promise<{ readonly head: Buffer; readonly size: number }> => {
  try {
    const { size } = await stat(path)
    const handle = await open(path)
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(4), 0, 4, 0)
      return { head: buffer.subarray(0, bytesRead), size }
    } finally {
      await handle.close()
    }
  } catch (error) {
    throw unreadable(path, error)
  }
}

const unreadable = (path: string, error: unknown): HistoryError =>
  error instanceof HistoryError
    ? error
    : new HistoryError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      })

const firstCharacter = async (stream: Readable, path: string): Promise<string> => {
  try {
    for await (const chunk of stream) {
      const text = String(chunk).replace('\uFEFF', '').trimStart()
      if (text !== '') return text.slice(0, 1)
    }
    return ''
  } catch (error) {
    throw unreadable(path, error)
  } finally {
    stream.destroy()
  }
}

/** Rows are passed on in groups: passing single rows costs more than reading them. */
const GROUP_ROWS = 5000

async function* linesOf(stream: Readable, path: string): AsyncGenerator<readonly [number, string]> {
  let number = 0
  try {
    // Waits for the reader, so that a large file is never in memory as a whole.
    for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) {
      number += 1
      const text = number === 1 ? line.replace(/^\uFEFF/, '') : line
      if (text.length > LINE_LENGTH_MAX)
        throw new HistoryError(`${path} line ${number} is too long for a bar`)
      if (text.trim() !== '') yield [number, text]
    }
  } catch (error) {
    throw unreadable(path, error)
  }
}

const LINE_LENGTH_MAX = 1_000_000

async function* inGroups(rows: AsyncIterable<TableRow>): AsyncGenerator<readonly TableRow[]> {
  let group: TableRow[] = []
  for await (const row of rows) {
    group.push(row)
    if (group.length < GROUP_ROWS) continue
    yield group
    group = []
  }
  if (group.length > 0) yield group
}

const csvRows = (stream: Readable, path: string): AsyncIterable<readonly TableRow[]> =>
  inGroups(
    (async function* () {
      let split: ReturnType<typeof splitterOf> | null = null
      for await (const [number, text] of linesOf(stream, path)) {
        // Skips a remark, or the address that some sites put into the first line of their files.
        if (split === null && /^(?:https?:\/\/[^,;\t]*$|#)/.test(text)) continue
        split ??= splitterOf(text)
        const cells = split(text)
        yield cells === null
          ? { number, cells: [], fault: 'a quote is not closed' }
          : { number, cells, fault: null }
      }
    })(),
  )

const jsonRows = (stream: Readable, path: string): AsyncIterable<readonly TableRow[]> =>
  inGroups(
    (async function* () {
      let read: ReturnType<typeof jsonCellsOf> | null = null
      for await (const [number, text] of linesOf(stream, path)) {
        if (read === null) {
          const columns = jsonColumnsOf(text, [])
          if (columns === null) throw new HistoryError(`${path} line ${number} is not a JSON object`)
          read = jsonCellsOf(columns)
          yield { number, cells: columns, fault: null }
        }
        const cells = read(text)
        yield typeof cells === 'string' ? { number, cells: [], fault: cells } : { number, cells, fault: null }
      }
    })(),
  )

async function* parquetRows(
  path: string,
  onProgress: (doneBytes: number, totalBytes: number) => void,
): AsyncGenerator<readonly TableRow[]> {
  try {
    const file = await asyncBufferFromFile(path)
    const metadata = await parquetMetadataAsync(file)
    const names = metadata.schema.slice(1).map(({ name }) => name)
    yield [{ number: 0, cells: names, fault: null }]
    let rowStart = 0
    for (const { num_rows } of metadata.row_groups) {
      const rowEnd = rowStart + Number(num_rows)
      const rows = await parquetReadObjects({ file, metadata, rowStart, rowEnd, compressors: COMPRESSORS })
      const first = rowStart
      yield rows.map((row, index) => ({
        number: first + index + 1,
        cells: names.map((name) => timeText(row[name])),
        fault: null,
      }))
      rowStart = rowEnd
      onProgress(rowStart, Number(metadata.num_rows))
    }
  } catch (error) {
    throw unreadable(path, error)
  }
}

/** Converts a time in any unit to text. */
const timeText = (value: unknown): string => {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '' : value.toISOString()
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
    ? String(value)
    : ''
}

type Unpack = (bytes: Uint8Array) => Uint8Array

/** Available from Node 22.15. */
const unpackZstd = (zlib as { readonly zstdDecompressSync?: Unpack }).zstdDecompressSync

const COMPRESSORS: Compressors = {
  GZIP: (bytes) => zlib.gunzipSync(bytes),
  BROTLI: (bytes) => zlib.brotliDecompressSync(bytes),
  ZSTD: (bytes) => {
    if (unpackZstd !== undefined) return unpackZstd(bytes)
    throw new HistoryError(
      'the file is compressed with zstd, which Node reads from 22.15 on: write it with snappy',
    )
  },
}
