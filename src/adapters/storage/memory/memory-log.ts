import { hash } from 'node:crypto'
import {
  categoryOf,
  EMPTY_HEAD,
  hasTypePrefix,
  type Head,
  headOf,
  type LogRecord,
} from '../../../core/log/event.ts'
import type { NodeRange } from '../../../core/log/tree.ts'
import {
  type AppendResult,
  assertLinked,
  type ChainFault,
  chainFaultOf,
  type ChainReport,
  countIn,
  type EventLog,
  type LogQuery,
  missingFault,
  type Snapshot,
  type VerifyRange,
} from '../../../ports/event-log.ts'
import { MemoryIndex, MemoryTree } from './memory-index.ts'
import { MemoryStore } from './memory-store.ts'

/** The log as an array: for tests and backtests, and as the model the other adapters are compared with. */
export class MemoryLog implements EventLog {
  readonly kind: EventLog['kind'] = 'memory'
  readonly #store: MemoryStore
  readonly #index: MemoryIndex
  readonly #tree: MemoryTree
  readonly #watching = new Set<() => void>()

  constructor(store = new MemoryStore()) {
    this.#store = store
    this.#index = new MemoryIndex(store.records)
    this.#tree = new MemoryTree(store.records)
  }

  head(): Promise<Head> {
    return Promise.resolve(this.#head())
  }

  async append(
    records: readonly LogRecord[],
    expected: Head,
    leaderToken: number | null = null,
  ): Promise<AppendResult> {
    assertLinked(records, expected)
    if (leaderToken !== null && leaderToken !== this.#store.leaderToken) return { status: 'fenced' }
    const head = this.#head()
    if (head.seq !== expected.seq || head.hash !== expected.hash) return { status: 'head-moved' }
    if (records.length === 0) return { status: 'appended' }
    this.#assertNewIds(records)
    for (const record of records) this.#store.records.push(record)
    queueMicrotask(() => this.#store.watchers.forEach((onAppended) => onAppended()))
    return { status: 'appended' }
  }

  async read({ after, before, types, about, order, limit }: LogQuery): Promise<readonly LogRecord[]> {
    const all = about === undefined ? this.#store.records : this.#index.about(about)
    const from = after === undefined ? 0 : countUpTo(all, after)
    const to = before === undefined ? all.length : countUpTo(all, before - 1)
    const matches = (record: LogRecord | undefined): record is LogRecord =>
      record !== undefined &&
      (types === undefined || types.some((prefix) => hasTypePrefix(record.type, prefix)))
    const found: LogRecord[] = []
    for (let step = 0; step < to - from && found.length < limit; step += 1) {
      const record = all[order === 'asc' ? from + step : to - 1 - step]
      if (matches(record)) found.push(record)
    }
    return found
  }

  async readByTime({
    domain,
    limit,
    offset,
  }: Parameters<EventLog['readByTime']>[0]): Promise<readonly LogRecord[]> {
    const signals = [...this.#index.domains()]
      .filter(([name]) => categoryOf(name) === 'signal' && (domain === null || name === domain))
      .flatMap(([, records]) => records)
    signals.sort((one, other) => (one.ts === other.ts ? other.seq - one.seq : one.ts < other.ts ? 1 : -1))
    return signals.slice(offset, offset + limit)
  }

  async count(typePrefix?: string): Promise<number> {
    return countIn(await this.countByDomain(), typePrefix)
  }

  async countByDomain(): Promise<ReadonlyMap<string, number>> {
    return new Map([...this.#index.domains()].map(([name, records]) => [name, records.length]))
  }

  async get(id: string): Promise<LogRecord | null> {
    return this.#index.withId(id)
  }

  async findByDedupeKeys(keys: readonly string[]): Promise<ReadonlyMap<string, LogRecord>> {
    const found = new Map<string, LogRecord>()
    for (const key of keys) {
      const record = this.#index.withDedupeKey(key)
      if (record !== null) found.set(key, record)
    }
    return found
  }

  async saveSnapshot(snapshot: Snapshot): Promise<void> {
    const { snapshots } = this.#store
    const { stateVersion, seq, signer } = snapshot
    const rest = snapshots.filter((one) => one.stateVersion !== stateVersion || one.seq !== seq)
    const others = rest.filter((one) => one.stateVersion !== stateVersion || one.signer !== signer)
    const same = rest.filter((one) => !others.includes(one))
    const kept = [...same, snapshot].sort((one, other) => one.seq - other.seq).slice(-SNAPSHOTS_KEPT)
    snapshots.splice(0, snapshots.length, ...others, ...kept)
  }

  async loadSnapshot(stateVersion: string, signer?: string): Promise<Snapshot | null> {
    const usable = this.#store.snapshots.filter(
      (snapshot) =>
        snapshot.stateVersion === stateVersion &&
        (signer === undefined || snapshot.signer === signer) &&
        this.#at(snapshot.seq)?.hash === snapshot.chainHash,
    )
    return usable.reduce<Snapshot | null>(
      (newest, snapshot) => (newest === null || snapshot.seq >= newest.seq ? snapshot : newest),
      null,
    )
  }

  watch(onAppended: () => void): () => void {
    // Wrapped, so that one function may watch twice and stop once.
    const watcher = (): void => onAppended()
    this.#watching.add(watcher)
    this.#store.watchers.add(watcher)
    return () => {
      this.#watching.delete(watcher)
      this.#store.watchers.delete(watcher)
    }
  }

  async *scan({
    after,
    upTo,
  }: {
    readonly after: number
    readonly upTo: number
  }): AsyncIterable<readonly LogRecord[]> {
    for (let last = after; ;) {
      const page = await this.read({ after: last, before: upTo + 1, order: 'asc', limit: SCAN_PAGE })
      if (page.length > 0) yield page
      last = page.at(-1)?.seq ?? upTo
      if (page.length < SCAN_PAGE) return
    }
  }

  async verifyHashes({ after, upTo, onProgress }: VerifyRange): Promise<ChainReport> {
    let checked = 0
    const broken = (fault: ChainFault): ChainReport => ({ ok: false, checked, ...fault })
    const start = after === 0 ? EMPTY_HEAD : this.#at(after)
    if (start === undefined) return broken(missingFault(after))
    let previous: Head = start
    for await (const page of this.scan({ after, upTo })) {
      for (const record of page) {
        const fault = chainFaultOf(previous, record, sha256Hex)
        if (fault !== null) return broken(fault)
        previous = headOf(record)
        checked += 1
      }
      onProgress?.(checked)
    }
    return previous.seq < upTo ? broken(missingFault(previous.seq + 1)) : { ok: true, checked }
  }

  async treeNodes(range: NodeRange): Promise<readonly Uint8Array[]> {
    return this.#tree.nodes(range)
  }

  async sizeBytes(): Promise<number> {
    return 0
  }

  async close(): Promise<void> {
    for (const watcher of this.#watching) this.#store.watchers.delete(watcher)
    this.#watching.clear()
  }

  #head(): Head {
    const last = this.#store.records.at(-1)
    return last === undefined ? EMPTY_HEAD : headOf(last)
  }

  #at(seq: number): LogRecord | undefined {
    const { records } = this.#store
    const record = records[countUpTo(records, seq) - 1]
    return record?.seq === seq ? record : undefined
  }

  #assertNewIds(records: readonly LogRecord[]): void {
    const ids = new Set<string>()
    for (const { id } of records) {
      if (ids.has(id) || this.#index.withId(id) !== null) throw new Error(`id ${id} is taken`)
      ids.add(id)
    }
  }
}

const SCAN_PAGE = 1000
/** Number of snapshots kept for each signer. */
const SNAPSHOTS_KEPT = 2

const sha256Hex = (text: string): string => hash('sha256', text, 'hex')

/** How many of these have a seq up to this one. */
const countUpTo = (records: readonly LogRecord[], seq: number): number => {
  let low = 0
  let high = records.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((records[middle]?.seq ?? Infinity) <= seq) low = middle + 1
    else high = middle
  }
  return low
}
