import type { LogRecord } from '../core/log/event.ts'
import { stretchOf } from '../core/operations/unsigned.ts'
import type { State } from '../core/state.ts'
import type { EventLog } from '../ports/event-log.ts'

/** A fold that knows which stored events are unsigned. */
export interface Believer {
  readonly state: State
  fresh(): Promise<State>
}

/** The log for readers, without events that lack a valid signature for their place. */
export const believedLog = (log: EventLog, believer: Believer): EventLog => {
  const believed = async (records: readonly LogRecord[]): Promise<readonly LogRecord[]> => {
    const unsigned = await unsignedAmong(records, believer)
    return unsigned.size === 0 ? records : records.filter(({ seq }) => !unsigned.has(seq))
  }
  return {
    kind: log.kind,
    read: async (query) => {
      const found: LogRecord[] = []
      let rest = query
      // Readers take a short page as the end of the log, so pages are refilled after events were left out.
      for (;;) {
        const page = await log.read(rest)
        found.push(...(await believed(page)))
        const last = page.at(-1)
        if (last === undefined || page.length < rest.limit || found.length === query.limit) return found
        const { from, to } = stretchOf(believer.state.operations.unsigned, last.seq) ?? {
          from: last.seq,
          to: last.seq,
        }
        const bounds = query.order === 'asc' ? { after: to } : { before: from }
        rest = { ...query, ...bounds, limit: query.limit - found.length }
      }
    },
    // The offset of these pages counts all events, so a page may be shorter, and no item repeats.
    readByTime: async (query) => believed(await log.readByTime(query)),
    get: async (id) => {
      const record = await log.get(id)
      return record === null ? null : ((await believed([record]))[0] ?? null)
    },
    head: () => log.head(),
    append: (records, expected) => log.append(records, expected),
    count: (typePrefix) => log.count(typePrefix),
    countByDomain: () => log.countByDomain(),
    // An unsigned event still blocks its dedupe key.
    findByDedupeKeys: (keys) => log.findByDedupeKeys(keys),
    saveSnapshot: (snapshot) => log.saveSnapshot(snapshot),
    loadSnapshot: (stateVersion, signer) => log.loadSnapshot(stateVersion, signer),
    watch: (onAppended) => log.watch(onAppended),
    scan: (range) => log.scan(range),
    verifyHashes: (range) => log.verifyHashes(range),
    treeNodes: (range) => log.treeNodes(range),
    sizeBytes: () => log.sizeBytes(),
    close: () => log.close(),
  }
}

/** Seqs of the unsigned ones among these records. Events that are not folded yet are folded first. */
export const unsignedAmong = async (
  records: readonly LogRecord[],
  believer: Believer,
): Promise<ReadonlySet<number>> => {
  const newest = records.reduce((highest, { seq }) => Math.max(highest, seq), 0)
  const { operations } = newest > believer.state.seq ? await believer.fresh() : believer.state
  const { unsigned } = operations
  if (unsigned.length === 0) return NONE
  return new Set(records.flatMap(({ seq }) => (stretchOf(unsigned, seq) === undefined ? [] : [seq])))
}

const NONE: ReadonlySet<number> = new Set()
