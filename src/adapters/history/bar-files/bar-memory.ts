import { stat } from 'node:fs/promises'
import type { HistoryBar } from '../../../core/market/history/series.ts'
import type { BarFileSummary } from './parquet-bars.ts'

/** Cache of bar files, for a process that makes many runs on the same files. */
export interface BarMemory {
  readonly bars: FileMemory<readonly HistoryBar[]>
  readonly summaries: FileMemory<BarFileSummary>
}

export const createBarMemory = (barsMax: number): BarMemory => ({
  bars: new FileMemory(barsMax, (bars) => bars.length),
  summaries: new FileMemory(SUMMARIES_MAX, () => 1),
})

/** Limit of cached summaries. Each of them is a few numbers. */
const SUMMARIES_MAX = 10_000

/** Drops entries that the last run did not read. Call it before each run. */
export const beginRun = ({ bars, summaries }: BarMemory): void => {
  bars.beginRun()
  summaries.beginRun()
}

interface Entry<Value> {
  readonly version: string
  readonly value: Value
  readonly weight: number
  run: number
}

/**
 * Values derived from files, valid while the files are unchanged. A value that does not fit is derived again each time.
 * Runs read from the beginning, so the first values kept are useful to all of them; replacing the oldest would keep
 * nothing.
 */
export class FileMemory<Value> {
  readonly #weightMax: number
  readonly #weightOf: (value: Value) => number
  readonly #entries = new Map<string, Entry<Value>>()
  #weight = 0
  #run = 0

  constructor(weightMax: number, weightOf: (value: Value) => number) {
    this.#weightMax = weightMax
    this.#weightOf = weightOf
  }

  beginRun(): void {
    for (const [key, entry] of this.#entries) if (entry.run < this.#run) this.#forget(key)
    this.#run += 1
  }

  /** `name` distinguishes values of one file. */
  async valueOf(path: string, name: string, make: () => Promise<Value>): Promise<Value> {
    const key = `${path}\0${name}`
    // Read before the file: if the file changes meanwhile, the value is derived again next time.
    const version = await versionOf(path)
    const known = this.#entries.get(key)
    if (known !== undefined && known.version === version) {
      known.run = this.#run
      return known.value
    }
    this.#forget(key)
    const value = await make()
    const weight = this.#weightOf(value)
    if (version !== null && !this.#entries.has(key) && this.#weight + weight <= this.#weightMax) {
      this.#entries.set(key, { version, value, weight, run: this.#run })
      this.#weight += weight
    }
    return value
  }

  #forget(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0
    this.#entries.delete(key)
  }
}

/** Files are replaced, never written in place. Null for a file whose state cannot be read. */
const versionOf = (path: string): Promise<string | null> =>
  stat(path, { bigint: true }).then(
    ({ dev, ino, size, mtimeNs, ctimeNs }) => [dev, ino, size, mtimeNs, ctimeNs].join(' '),
    () => null,
  )
