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
import { evolve, INITIAL_STATE, STATE_VERSION, type State } from '../core/state.ts'
import type { EventLog, Snapshot } from '../ports/event-log.ts'
import { sha256Hex } from './sha256.ts'

/** The fold of the log up to a head. */
export interface Memory {
  readonly state: State
  readonly head: Head
}

export const EMPTY_MEMORY: Memory = { state: INITIAL_STATE, head: EMPTY_HEAD }

const CATCH_UP_PAGE = 1000

/** Stored events that were just folded, and the memory that includes them. */
export interface Page {
  readonly memory: Memory
  readonly records: readonly LogRecord[]
  readonly events: readonly Stamped[]
}

/** Folds all events after `memory`, page by page. Start, restart and catching up are this one path. */
export const catchUp = async (
  log: EventLog,
  memory: Memory,
  onPage: (page: Page) => void = () => undefined,
): Promise<Memory> => {
  let { state, head } = memory
  for (;;) {
    const records = await log.read({ after: head.seq, order: 'asc', limit: CATCH_UP_PAGE })
    const last = records.at(-1)
    if (last === undefined) return { state, head }
    const events = records.map(readable)
    for (const event of events) state = fold(state, event)
    head = headOf(last)
    onPage({ memory: { state, head }, records, events })
    if (records.length < CATCH_UP_PAGE) return { state, head }
  }
}

/** Memory of the newest usable snapshot, or empty. The caller catches up from there. */
export const recall = async (log: EventLog): Promise<Memory> => {
  const snapshot = await log.loadSnapshot(STATE_VERSION)
  if (snapshot === null || sha256Hex(snapshot.state) !== snapshot.stateHash) return EMPTY_MEMORY
  const state = decodeState(snapshot.state)
  return { state, head: { seq: snapshot.seq, hash: snapshot.chainHash, recordedAt: state.recordedAt } }
}

export const snapshotOf = (memory: Memory): Snapshot => {
  const steps = snapshotSteps(memory)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Takes a small part of a millisecond. */
const SLICE_CHARACTERS = 4000

/** Builds a snapshot in small steps; the last one returns it. */
export function* snapshotSteps({ state, head }: Memory): Generator<undefined, Snapshot> {
  const hash = createHash('sha256')
  const slices: string[] = []
  let slice = ''
  for (const part of encodedParts(state)) {
    slice += part
    // An empty part marks other work, such as sorting.
    if (part === '') yield
    if (slice.length < SLICE_CHARACTERS) continue
    hash.update(slice)
    slices.push(slice)
    slice = ''
    yield
  }
  hash.update(slice)
  slices.push(slice)
  return {
    seq: head.seq,
    chainHash: head.hash,
    stateVersion: STATE_VERSION,
    stateHash: hash.digest('hex'),
    state: slices.join(''),
  }
}

export const stateHashOf = (state: State): string => sha256Hex(encodeState(state))

/** A stored event whose payload no longer matches its type was damaged: it changes nothing, and verification reports it. */
const fold = (state: State, event: Stamped): State => {
  try {
    return evolve(state, event)
  } catch (error) {
    if (isSound(event) && !(error instanceof ContradictionError)) throw error
    return evolve(state, { ...event, type: 'damaged' })
  }
}

/** A payload that is no JSON was damaged: it is folded as an empty one, and verification reports it. */
const readable = (record: LogRecord): Stamped => {
  try {
    return stampedFrom(record)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return stampedFrom({ ...record, payload: '{}' })
  }
}
