import { canonicalJson } from '../../core/log/canonical-json.ts'
import { encodeState } from '../../core/state-codec.ts'
import { evolve, type State } from '../../core/state.ts'
import type { JsonObject } from '../../core/shared/json.ts'
import { catchUp, EMPTY_MEMORY, recall, stateHashOf, type Memory } from '../../engine/memory.ts'
import type { Trust } from '../../engine/integrity/trust.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { Failure } from './failure.ts'

/** Everything folded again from the first event, against what a start would recall. */
export interface Refold {
  /** How far both folds came. */
  readonly seq: number
  readonly identical: boolean
  /** Every part of memory, by name. */
  readonly projections: Readonly<Record<string, 'identical' | 'different'>>
  /** Of the memory at the asked-for place. */
  readonly stateHash: string
}

export interface RefoldOptions {
  /** Where the state hash is taken; null = at the end. */
  readonly hashAtSeq: number | null
  readonly onProgress: (done: number, total: number) => void
}

/** Of a log that is not there yet. */
export const NOTHING_FOLDED: Refold = {
  seq: 0,
  identical: true,
  projections: {},
  stateHash: stateHashOf(EMPTY_MEMORY.state),
}

export const refold = async (
  log: EventLog,
  trust: Trust,
  { hashAtSeq, onProgress }: RefoldOptions,
): Promise<Refold> => {
  const { seq: total } = await log.head()
  let before: State = EMPTY_MEMORY.state
  let wanted: State | null = null
  const folded = await catchUp(log, EMPTY_MEMORY, {
    trust,
    onPage: ({ memory, events }) => {
      if (hashAtSeq !== null && before.seq < hashAtSeq && hashAtSeq <= memory.head.seq) {
        wanted = events.filter(({ seq }) => seq <= hashAtSeq).reduce(evolve, before)
      }
      before = memory.state
      onProgress(memory.head.seq, total)
    },
  })
  const recalled = await catchUp(log, await recall(log, trust), { trust })
  const [full, live] = await atSamePlace(log, trust, folded, recalled)
  return {
    seq: full.head.seq,
    identical: stateHashOf(full.state) === stateHashOf(live.state),
    projections: compared(full.state, live.state),
    stateHash: stateHashOf(wanted ?? full.state),
  }
}

const ROUNDS_MAX = 1000

/** A running service appends meanwhile: the one behind catches up until both have seen the same. */
const atSamePlace = async (
  log: EventLog,
  trust: Trust,
  first: Memory,
  second: Memory,
): Promise<readonly [Memory, Memory]> => {
  let [full, live] = [first, second]
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    if (full.head.seq === live.head.seq) return [full, live]
    if (full.head.seq < live.head.seq) full = await catchUp(log, full, { trust })
    else live = await catchUp(log, live, { trust })
  }
  throw new Failure('store.unavailable', 'the log grows too fast to compare two readings of it', {
    advice: 'Try again when the service is less busy.',
  })
}

const compared = (full: State, live: State): Readonly<Record<string, 'identical' | 'different'>> => {
  const [one, other] = [partsOf(full), partsOf(live)]
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  return Object.fromEntries(
    names.map((name) => [
      snakeCase(name),
      canonicalJson(one[name] ?? null) === canonicalJson(other[name] ?? null) ? 'identical' : 'different',
    ]),
  )
}

/** The members of every context. The position of the fold is none of them: both are at the same one. */
const partsOf = (state: State): JsonObject => {
  const { seq: _seq, recordedAt: _recordedAt, ...contexts } = JSON.parse(encodeState(state)) as JsonObject
  return Object.assign({}, ...Object.values(contexts)) as JsonObject
}

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
