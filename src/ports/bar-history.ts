import type { BarConflict } from '../core/market/history/merge.ts'
import type { HistoryBar, SeriesName } from '../core/market/history/series.ts'

/** Times at which bars open: the first included, the last not. */
export interface BarRange {
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
}

export interface StoredSeries extends SeriesName {
  readonly bars: number
  readonly firstOpenMs: number
  readonly lastOpenMs: number
  readonly bytes: number
  /** Oldest first. */
  readonly files: readonly string[]
}

export interface MergeReport {
  readonly added: number
  readonly replaced: number
  readonly repeated: number
  readonly conflicts: readonly BarConflict[]
}

/** Recorded bars, by venue, symbol, length and month. */
export interface BarStore {
  /** Sorted by name. Throws for a file that cannot be read. */
  list(): Promise<readonly StoredSeries[]>
  /** As they are stored, month by month, oldest first; nothing where nothing is stored. */
  read(name: SeriesName, range?: BarRange): AsyncIterable<readonly HistoryBar[]>
  /** Made of a stored series of shorter bars, once: what was made is kept until its source changes. */
  readResampled(source: SeriesName, toSeconds: number, range?: BarRange): AsyncIterable<readonly HistoryBar[]>
  /** All of one month or nothing of it. Merging the same bars again changes nothing. */
  merge(
    name: SeriesName,
    bars: readonly HistoryBar[],
    options: { readonly replaces: boolean },
  ): Promise<MergeReport>
}

/** What the caller knows of a file that does not say it itself. */
export interface ImportOptions {
  readonly venue?: string | undefined
  readonly symbol?: string | undefined
  readonly seconds?: number | undefined
  readonly replaces: boolean
  readonly onProgress: (doneBytes: number, totalBytes: number) => void
}

export interface ImportedSeries extends MergeReport {
  readonly name: SeriesName
}

export interface ImportReport {
  /** How the file was read, for people. */
  readonly format: string
  readonly series: readonly ImportedSeries[]
  /** Rows that could not be used, all of them. */
  readonly skipped: number
  /** The first of them, with their line or row. */
  readonly faults: readonly string[]
}

export interface DownloadRequest {
  readonly exchange: string
  readonly symbol: string
  readonly seconds: number
  readonly fromMs: number
  /** Bars that close after this time are left out. */
  readonly toMs: number
  /** Instead of the hosts of the exchange. */
  readonly url?: string | undefined
  readonly onProgress: (progress: DownloadProgress) => void
}

export interface DownloadProgress {
  readonly doneMs: number
  readonly totalMs: number
  /** Received in this run. */
  readonly bars: number
}

export interface DownloadReport extends MergeReport {
  readonly name: SeriesName
  /** As the exchange names it. */
  readonly market: string
  readonly requests: number
  /** Bars of the range that were stored before. */
  readonly present: number
  /** Bars of the range that the exchange does not have. */
  readonly missing: number
}

/** What a file cannot be used for, in words for people. */
export class HistoryError extends Error {
  override readonly name = 'HistoryError'
}

export type TableCell = string | number | boolean | null

/** How a column is stored. A time is given as ISO 8601. */
export type TableColumnType = 'text' | 'number' | 'integer' | 'flag' | 'time'

export interface TableColumn {
  readonly name: string
  readonly type: TableColumnType
}

/** Encodes rows as a Parquet file, piece by piece. */
export interface TableEncoder {
  /** The next bytes of the file. */
  add(rows: readonly (readonly TableCell[])[]): Promise<Uint8Array>
  /** The last bytes. */
  end(): Promise<Uint8Array>
}
