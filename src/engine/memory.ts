import { ContradictionError } from '../core/shared/assert.ts'
import { createHash } from 'node:crypto'
import { isSound } from '../core/events/catalogue.ts'
import { decodeState, encodedParts, encodeState } from '../core/state-codec.ts'
import {
  EMPTY_HEAD,
  headOf,
  stampedFrom,
  type Head,
  type LogRecord,
  type Stamped,
} from '../core/log/event.ts'
import { UNSIGNED_TYPE } from '../core/operations/unsigned.ts'
import { evolve, INITIAL_STATE, STATE_VERSION, type State } from '../core/state.ts'
import type { EventLog, Snapshot } from '../ports/event-log.ts'
import type { Signer } from '../ports/signer.ts'
import { yieldToEventLoop } from '../ports/yield-to-event-loop.ts'
import { BatchCheck, rootSnapshot, snapshotText, type Trust } from './integrity/trust.ts'
import { sha256Hex } from './sha256.ts'

/** The fold of the log up to a head. */
export interface Memory {
  readonly state: State
  readonly head: Head
}

export const EMPTY_MEMORY: Memory = { state: INITIAL_STATE, head: EMPTY_HEAD }

const CATCH_UP_PAGE = 1000

/** Events between two yields to the event loop: about a millisecond of work. */
const FOLDED_AT_ONCE = 50

/** Stored events that were just folded, and the memory that includes them. */
export interface Page {
  readonly memory: Memory
  readonly records: readonly LogRecord[]
  readonly events: readonly Stamped[]
}

export interface CatchUpOptions {
  /** Null if no other process can write to the log. No signature is checked then. */
  readonly trust: Trust | null
  /** Last event to fold, the end of a batch. Default: the last one in the log. */
  readonly upTo?: number
  readonly onPage?: (page: Page) => void
  /** Called with stored events that change nothing, because they have no valid signature for their place in the log. */
  readonly onUnsigned?: ((records: readonly LogRecord[]) => void) | undefined
}

/** Folds all events after `memory`, page by page. Start, restart and catching up use this path. */
export const catchUp = async (
  log: EventLog,
  memory: Memory,
  { trust, upTo, onPage, onUnsigned }: CatchUpOptions,
): Promise<Memory> => {
  let { state, head } = memory
  const check = trust === null ? null : new BatchCheck(trust, head)
  let readUpTo = head.seq
  for (;;) {
    const end = upTo === undefined ? {} : { before: upTo + 1 }
    const records = await log.read({ after: readUpTo, ...end, order: 'asc', limit: CATCH_UP_PAGE })
    readUpTo = records.at(-1)?.seq ?? readUpTo
    const isLast = records.length < CATCH_UP_PAGE
    const checked =
      check === null
        ? [{ records, unsigned: NONE }]
        : check.checked(records, { isLast, keys: () => state.operations.nodes })
    for await (const { records: some, unsigned } of checked) {
      const last = some.at(-1)
      if (last === undefined) continue
      const events: Stamped[] = []
      for (const record of some) {
        const event = unsigned.has(record.seq) ? unsignedFrom(record) : readable(record)
        events.push(event)
        state = fold(state, event)
        if (events.length % FOLDED_AT_ONCE === 0) await yieldToEventLoop()
      }
      head = headOf(last)
      if (unsigned.size > 0) onUnsigned?.(some.filter(({ seq }) => unsigned.has(seq)))
      onPage?.({ memory: { state, head }, records: some, events })
    }
    if (isLast) return { state, head }
  }
}

const NONE: ReadonlySet<number> = new Set()

/**
 * Memory of the newest snapshot that the reader's own key has signed, or empty. The caller catches up from there. Other
 * snapshots are not used: the log is folded from its first event instead.
 */
export const recall = async (
  log: EventLog,
  trust: Trust | null,
  isWanted: (seq: number) => boolean = () => true,
): Promise<Memory> => {
  const snapshot = await rootSnapshot(log, STATE_VERSION, trust)
  if (snapshot === null || !isWanted(snapshot.seq)) return EMPTY_MEMORY
  const state = decodeState(snapshot.state)
  return { state, head: { seq: snapshot.seq, hash: snapshot.chainHash, recordedAt: state.recordedAt } }
}

type SnapshotSigner = Pick<Signer, 'nodeId' | 'sign'>

export const snapshotOf = (memory: Memory, signer: SnapshotSigner): Snapshot => {
  const steps = snapshotSteps(memory, signer)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Size of a slice, which takes a small part of a millisecond. */
const SLICE_CHARACTERS = 4000

/** The state as text. An empty piece marks other work, such as sorting, and ends a slice. */
export function* encodedSlices(state: State): Generator<string> {
  let slice = ''
  for (const part of encodedParts(state)) {
    slice += part
    if (part !== '' && slice.length < SLICE_CHARACTERS) continue
    yield slice
    slice = ''
  }
  yield slice
}

/** Builds a snapshot in small steps; the last one returns it. */
export function* snapshotSteps(
  { state, head }: Memory,
  signer: SnapshotSigner,
): Generator<undefined, Snapshot> {
  const hash = createHash('sha256')
  const slices: string[] = []
  for (const slice of encodedSlices(state)) {
    if (slices.length > 0) yield
    hash.update(slice)
    slices.push(slice)
  }
  const snapshot = {
    seq: head.seq,
    chainHash: head.hash,
    stateVersion: STATE_VERSION,
    stateHash: hash.digest('hex'),
    state: slices.join(''),
  }
  return { ...snapshot, signature: signer.sign(snapshotText(snapshot)), signer: signer.nodeId }
}

export const stateHashOf = (state: State): string => sha256Hex(encodeState(state))

/**
 * Folds an event. A stored event whose payload no longer matches its type was damaged: it changes nothing, and
 * verification reports it.
 */
export const fold = (state: State, event: Stamped): State => {
  try {
    return evolve(state, event)
  } catch (error) {
    if (isSound(event) && !(error instanceof ContradictionError)) throw error
    return evolve(state, { ...event, type: 'damaged' })
  }
}

/** An event without a valid signature. It changes only the list of unsigned events, and verification reports it. */
const unsignedFrom = (record: LogRecord): Stamped => ({ ...readable(record), type: UNSIGNED_TYPE })

/** A payload that is not JSON was damaged. It is folded as an empty one, and verification reports it. */
const readable = (record: LogRecord): Stamped => {
  try {
    return stampedFrom(record)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return stampedFrom({ ...record, payload: '{}' })
  }
}
