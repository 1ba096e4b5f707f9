import { headOf, type Head } from '../../core/log/event.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { catchUp, recall, type Memory } from '../memory.ts'
import type { Trust } from './trust.ts'

/*
 * Trust starts at a root that a writer of the database cannot change: the first event, or a snapshot signed by the
 * reader's own key. Every event after the root is hashed, linked to the one before and checked against the signature of
 * its batch. The accepted keys, the unsigned events and the heads below are what this walk found. Nothing here is read
 * through a column, an index or a table that hash and signature do not cover.
 */

/** The log as verified by this reader, record by record, from a trusted root. */
export interface Folded {
  readonly memory: Memory
  readonly heads: TrustedHeads
}

/** Verifies the events stored since the call before and returns the fold of all of them. */
export type Fold = () => Promise<Folded>

/** Chain hashes of some verified events. A later walk compares them, to prove that it read the same events. */
export class TrustedHeads {
  #heads: TrustedHead[] = []

  add({ seq, hash }: TrustedHead): void {
    const last = this.#heads.at(-1)
    if (seq === 0 || (last !== undefined && seq <= last.seq)) return
    this.#heads.push({ seq, hash })
    // The newest head has an odd index, so it always stays.
    if (this.#heads.length === HEADS_MAX) this.#heads = this.#heads.filter((_, index) => index % 2 === 1)
  }

  /** The newest head after `after` and up to `upTo`; null if there is none. */
  newestIn(after: number, upTo: number): TrustedHead | null {
    const found = this.#heads.findLast(({ seq }) => seq <= upTo)
    return found !== undefined && found.seq > after ? found : null
  }
}

export type TrustedHead = Pick<Head, 'seq' | 'hash'>

/**
 * Limit of heads; must be even. Beyond it every second head is dropped, so the heads of a long log are further apart.
 */
const HEADS_MAX = 10_000

/** Fold for readers without an engine. The first call starts at the newest snapshot of the reader's own key. */
export const createFold = (log: EventLog, trust: Trust): Fold => {
  let memory: Memory | null = null
  const heads = new TrustedHeads()
  return async () => {
    memory ??= await recall(log, trust)
    heads.add(memory.head)
    memory = await catchUp(log, memory, {
      trust,
      onPage: ({ records }) => {
        for (const record of records) heads.add(headOf(record))
      },
    })
    return { memory, heads }
  }
}
