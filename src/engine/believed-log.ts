import type { LogRecord } from '../core/log/event.ts'
import { stretchOf } from '../core/operations/unsigned.ts'
import type { State } from '../core/state.ts'
import type { EventLog } from '../ports/event-log.ts'

/** The fold that knows which stored events are unsigned. */
export interface Believer {
  readonly state: State
  fresh(): Promise<State>
}

/** The log as readers are shown it: without the events that nobody who may write here has signed where they stand. */
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
      // A short page means the end of the log to readers, so the place of what is left out is filled.
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
    // Pages are counted by their offset here: a page may be shorter, and none repeats an item.
    readByTime: async (query) => believed(await log.readByTime(query)),
    get: async (id) => {
      const record = await log.get(id)
      return record === null ? null : ((await believed([record]))[0] ?? null)
    },
    head: () => log.head(),
    append: (records, expected) => log.append(records, expected),
    count: (typePrefix) => log.count(typePrefix),
    countByDomain: () => log.countByDomain(),
    // An unsigned event holds its key all the same.
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

/** The numbers of those that are unsigned. What was not folded yet is folded first. */
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
