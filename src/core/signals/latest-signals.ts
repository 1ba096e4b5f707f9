import { Map as PersistentMap } from 'immutable'
import { isSignal, type KnownEvent, type StoredSignal } from '../events/catalogue.ts'
import { CURATOR_TYPE } from '../signal-types/curator.ts'
import { weightedTypeOf } from '../signal-types/all.ts'
import type { JsonObject } from '../shared/json.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import { DAY_MS } from '../shared/time.ts'

/** The newest word of an author on a symbol, in one type. */
export interface LatestSignal {
  readonly id: string
  readonly type: string
  readonly symbol: string
  readonly authorId: string
  readonly contributorId: string | null
  /** The earlier of its own time and the time of receipt. */
  readonly effectiveTimeMs: number
  readonly payload: JsonObject
}

/** What the brain looks at: the newest signal per type, symbol and author, whatever the history. */
export interface LatestSignals {
  readonly postings: PersistentMap<string, LatestSignal>
  /** Nothing on the board is older than this: as long as it may hang, nobody needs to look. */
  readonly oldestMs: number
  /** A curator signal whose attribution is the next event. */
  readonly unattributed: StoredSignal | null
}

export const NO_LATEST_SIGNALS: LatestSignals = {
  postings: PersistentMap(),
  oldestMs: 0,
  unattributed: null,
}

/** Nothing counts for longer than four days, so nothing older needs to hang here. */
const POSTING_AGE_MS_MAX = 4 * DAY_MS

/** Beyond this, new authors and symbols wait until a cycle has taken down what is old. */
const POSTINGS_MAX = 200_000

export const evolveLatestSignals = (board: LatestSignals, event: KnownEvent): LatestSignals => {
  if (isSignal(event)) {
    if (event.type === CURATOR_TYPE) return { ...board, unattributed: event }
    return event.source === null ? board : posted(board, event, event.source, null)
  }
  if (event.type === 'attribution.recorded.v1') {
    const { signal_id, node_id, contributor_id } = event.payload
    const { unattributed } = board
    if (unattributed === null || unattributed.id !== signal_id || node_id === null) return board
    return { ...posted(board, unattributed, node_id, contributor_id), unattributed: null }
  }
  return event.type === 'brain.cycle.v1' ? swept(board, Date.parse(event.ts)) : board
}

const posted = (
  board: LatestSignals,
  signal: StoredSignal,
  authorId: string,
  contributorId: string | null,
): LatestSignals => {
  const { symbol } = signal.payload
  if (typeof symbol !== 'string' || weightedTypeOf(signal.type) === undefined) return board
  const effectiveTimeMs = Math.min(Date.parse(signal.ts), Date.parse(signal.recordedAt))
  const key = `${signal.type}|${authorId}|${canonicalSymbol(symbol)}`
  const before = board.postings.get(key)
  if (before === undefined && board.postings.size >= POSTINGS_MAX) return board
  // An older word that arrives late does not replace a newer one.
  if (before !== undefined && before.effectiveTimeMs > effectiveTimeMs) return board
  const { id, type, payload } = signal
  const posting = { id, type, symbol, authorId, contributorId, effectiveTimeMs, payload }
  return {
    postings: board.postings.set(key, posting),
    oldestMs: board.postings.size === 0 ? effectiveTimeMs : Math.min(board.oldestMs, effectiveTimeMs),
    unattributed: board.unattributed,
  }
}

const swept = (board: LatestSignals, nowMs: number): LatestSignals => {
  if (nowMs - board.oldestMs <= POSTING_AGE_MS_MAX) return board
  const old: string[] = []
  let oldestMs = nowMs
  for (const [key, { effectiveTimeMs }] of board.postings) {
    if (nowMs - effectiveTimeMs > POSTING_AGE_MS_MAX) old.push(key)
    else if (effectiveTimeMs < oldestMs) oldestMs = effectiveTimeMs
  }
  const { postings, unattributed } = board
  return { postings: old.length === 0 ? postings : postings.deleteAll(old), oldestMs, unattributed }
}
