import type { BarConflict } from '../core/market/history/merge.ts'
import type { HistoryBar, SeriesName } from '../core/market/history/series.ts'

/** Range of opening times: the first is included, the last is not. */
export interface BarRange {
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
}

export interface StoredSeries extends SeriesName {
  readonly bars: number
  readonly firstOpenMs: number
  readonly lastOpenMs: number
  readonly bytes: number
  /** Names of the files, oldest first. */
  readonly files: readonly string[]
}

export interface MergeReport {
  readonly added: number
  readonly replaced: number
  readonly repeated: number
  readonly conflicts: readonly BarConflict[]
}

/** Stored bars by venue, symbol, length and month. */
export interface BarStore {
  /** Lists the stored series by name. Throws for a file that cannot be read. */
  list(): Promise<readonly StoredSeries[]>
  /** Stored bars, month by month, oldest first. Empty if nothing is stored. */
  read(name: SeriesName, range?: BarRange): AsyncIterable<readonly HistoryBar[]>
  /** Bars resampled from a stored series of shorter bars. The result is kept until its source changes. */
  readResampled(source: SeriesName, toSeconds: number, range?: BarRange): AsyncIterable<readonly HistoryBar[]>
  /** Stores all bars of one month, or none. Merging the same bars again changes nothing. */
  merge(
    name: SeriesName,
    bars: readonly HistoryBar[],
    options: { readonly replaces: boolean },
  ): Promise<MergeReport>
}

/** Values that the caller provides for a file that does not state them. */
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
  /** Number of all rows that could not be used. */
  readonly skipped: number
  /** Faults of the first of these rows, with their line or row number. */
  readonly faults: readonly string[]
}

export interface DownloadRequest {
  readonly exchange: string
  readonly symbol: string
  readonly seconds: number
  readonly fromMs: number
  /** Bars that close after this time are left out. */
  readonly toMs: number
  /** Replaces the hosts of the exchange. */
  readonly url?: string | undefined
  readonly onProgress: (progress: DownloadProgress) => void
}

export interface DownloadProgress {
  readonly doneMs: number
  readonly totalMs: number
  /** Number of bars received in this run. */
  readonly bars: number
}

export interface DownloadReport extends MergeReport {
  readonly name: SeriesName
  /** Market in the spelling of the exchange. */
  readonly market: string
  readonly requests: number
  /** Number of bars of the range that were stored before. */
  readonly present: number
  /** Number of bars of the range that the exchange does not have. */
  readonly missing: number
}

/** Thrown for a file that cannot be used. The message explains it to people. */
export class HistoryError extends Error {
  override readonly name = 'HistoryError'
}

export type TableCell = string | number | boolean | null

/** Storage type of a column. Times are given in ISO 8601. */
export type TableColumnType = 'text' | 'number' | 'integer' | 'flag' | 'time'

export interface TableColumn {
  readonly name: string
  readonly type: TableColumnType
}

/** Encodes rows as a Parquet file, piece by piece. */
export interface TableEncoder {
  /** Returns the next bytes of the file. */
  add(rows: readonly (readonly TableCell[])[]): Promise<Uint8Array>
  /** Returns the last bytes of the file. */
  end(): Promise<Uint8Array>
}
