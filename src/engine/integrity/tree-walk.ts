import { EMPTY_HEAD, headOf, type Head, type LogRecord } from '../../core/log/event.ts'
import type { OperationsState } from '../../core/operations/evolve.ts'
import { stretchOf } from '../../core/operations/unsigned.ts'
import { EMPTY_FRONTIER, eventLeaf, extendFrontier, type Frontier } from '../../core/log/merkle.ts'
import { missingFault, type EventLog } from '../../ports/event-log.ts'
import { faultFrom, type IntegrityFault } from './findings.ts'
import { yieldToEventLoop } from '../../ports/yield-to-event-loop.ts'
import { columnFaultOf, SLICE_EVENTS } from './record-check.ts'
import { sha256 } from '../sha256.ts'
import { findKeys, keyIn } from './signer-keys.ts'
import { leafOfRecord } from './tree-check.ts'

/** Two trees that grow along the log, from its first event or from checked frontiers. */
export type TreeWalk = ReturnType<typeof createTreeWalk>

export interface TreeWalkStart {
  readonly frontier: Frontier
  readonly eventFrontier: Frontier
  /** Chain hash of the newest event in both trees. */
  readonly head: string
}

const AT_FIRST: TreeWalkStart = { frontier: EMPTY_FRONTIER, eventFrontier: EMPTY_FRONTIER, head: '' }

/** Facts about the events that the fold of the verified log provides. */
export type KnownOfEvents = Pick<OperationsState, 'nodes' | 'unsigned'>

/** `known` provides accepted keys. A signer that was never accepted has the key under which it introduced itself. */
export const createTreeWalk = (
  log: EventLog,
  known: () => KnownOfEvents,
  start: TreeWalkStart = AT_FIRST,
) => {
  const keys = new Map<string, string>()
  let { frontier, eventFrontier } = start
  let last: Head = { ...EMPTY_HEAD, seq: frontier.size, hash: start.head }

  const learnKeys = async (records: readonly LogRecord[]): Promise<void> => {
    for (const record of records) {
      const key = keyIn(record)
      if (key !== null && !keys.has(key.nodeId)) keys.set(key.nodeId, key.publicKey)
    }
    for (const { signer } of records) {
      const accepted = signer === null ? undefined : known().nodes.publicKeys.get(signer)
      if (signer !== null && accepted !== undefined) keys.set(signer, accepted)
    }
    const unknown = new Set(
      records.flatMap(({ signer }) => (signer === null || keys.has(signer) ? [] : [signer])),
    )
    if (unknown.size > 0) for (const [id, key] of await findKeys(log, unknown)) keys.set(id, key)
  }

  /** Adds all of these events, or none. */
  const takeIn = async (records: readonly LogRecord[]): Promise<IntegrityFault | null> => {
    await learnKeys(records)
    const leaves: Uint8Array[] = []
    const eventLeaves: Uint8Array[] = []
    let previous = last
    for (const record of records) {
      // An event that was found damaged when it was folded is in the tree under its stored hash. It proves nothing.
      const isKnown = stretchOf(known().unsigned, record.seq) !== undefined
      const fault = columnFaultOf(record, previous, { rehash: !isKnown })
      if (fault !== null) return fault
      leaves.push(leafOfRecord(record, keys))
      eventLeaves.push(eventLeaf(record.hash, sha256))
      previous = headOf(record)
    }
    frontier = extendFrontier(frontier, leaves, sha256)
    eventFrontier = extendFrontier(eventFrontier, eventLeaves, sha256)
    last = previous
    return null
  }

  return {
    /** Frontier of the tree over whole records. */
    frontier: () => frontier,
    /** Frontier of the tree over event hashes, which proofs lead to. */
    eventFrontier: () => eventFrontier,
    /** Chain hash of the newest event in the tree. */
    head: () => last.hash,
    /** Adds the events up to this seq, unless one of them does not follow its predecessor. */
    forward: async (upTo: number): Promise<IntegrityFault | null> => {
      for await (const page of log.scan({ after: last.seq, upTo })) {
        for (let from = 0; from < page.length; from += SLICE_EVENTS) {
          const fault = await takeIn(page.slice(from, from + SLICE_EVENTS))
          if (fault !== null) return fault
          await yieldToEventLoop()
        }
      }
      return last.seq >= upTo ? null : faultFrom(missingFault(last.seq + 1))
    },
  }
}
