import { Map as PersistentMap } from 'immutable'
import { isSignal, type KnownEvent, type StoredSignal } from '../events/catalogue.ts'
import { CURATOR_TYPE } from '../signal-types/curator.ts'
import { weightedTypeOf } from '../signal-types/all.ts'
import { signalId, type CanonicalSymbol, type ContributorId, type SignalId } from '../shared/brand.ts'
import type { JsonObject } from '../shared/json.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import { DAY_MS, isFromFuture, msOf } from '../shared/time.ts'

/** The latest signal of one type, by one author on one symbol. */
export interface LatestSignal {
  readonly id: SignalId
  readonly type: string
  readonly symbol: CanonicalSymbol
  readonly authorId: string
  readonly contributorId: ContributorId | null
  /** The earlier of the signal's time and its time of receipt. */
  readonly effectiveTimeMs: number
  readonly payload: JsonObject
}

/** The latest signal per type, symbol and author, which the brain reads. Its size does not depend on the history. */
export interface LatestSignals {
  readonly signals: PersistentMap<string, LatestSignal>
  /** Number of these signals by author. */
  readonly ofAuthor: PersistentMap<string, number>
  /** Lower bound of the times of all signals. Cycles sweep only if it is too old. */
  readonly oldestMs: number
  /** A curator signal whose attribution is the next event. */
  readonly unattributed: StoredSignal | null
}

export const NO_LATEST_SIGNALS: LatestSignals = {
  signals: PersistentMap(),
  ofAuthor: PersistentMap(),
  oldestMs: 0,
  unattributed: null,
}

/** No signal has quality for longer than four days. */
const AGE_MS_MAX = 4 * DAY_MS

/** Limit of signals. Beyond it, signals of new authors and symbols are ignored until a cycle sweeps. */
const SIGNALS_MAX = 200_000
/** Limit per author, so that an author who invents symbols cannot displace others. */
export const SIGNALS_OF_AUTHOR_MAX = SIGNALS_MAX / 10

export const evolveLatestSignals = (latest: LatestSignals, event: KnownEvent): LatestSignals => {
  if (isSignal(event)) {
    if (event.type === CURATOR_TYPE) return { ...latest, unattributed: event }
    return event.source === null ? latest : withSignal(latest, event, event.source, null)
  }
  if (event.type === 'attribution.recorded.v1') {
    const { signal_id, node_id, contributor_id } = event.payload
    const { unattributed } = latest
    if (unattributed === null || unattributed.id !== signal_id || node_id === null) return latest
    return { ...withSignal(latest, unattributed, node_id, contributor_id), unattributed: null }
  }
  return event.type === 'brain.cycle.v1' ? swept(latest, msOf(event.ts)) : latest
}

const withSignal = (
  latest: LatestSignals,
  signal: StoredSignal,
  authorId: string,
  contributorId: ContributorId | null,
): LatestSignals => {
  const { symbol: spelling } = signal.payload
  if (typeof spelling !== 'string' || weightedTypeOf(signal.type) === undefined) return latest
  const { ts, recordedAt } = signal
  const effectiveTimeMs = ts === recordedAt ? msOf(ts) : Math.min(Date.parse(ts), msOf(recordedAt))
  const symbol = canonicalSymbol(spelling)
  const key = `${signal.type}|${authorId}|${symbol}`
  const before = latest.signals.get(key)
  const own = before === undefined ? (latest.ofAuthor.get(authorId) ?? 0) : 0
  if (before === undefined && (latest.signals.size >= SIGNALS_MAX || own >= SIGNALS_OF_AUTHOR_MAX))
    return latest
  // An older signal that arrives late does not replace a newer one. A stored signal from the future is replaced: a
  // wrong clock wrote it.
  const isNewer = before !== undefined && before.effectiveTimeMs > effectiveTimeMs
  if (isNewer && !isFromFuture(before.effectiveTimeMs, msOf(recordedAt))) return latest
  const { id, type, payload } = signal
  const newest = { id: signalId(id), type, symbol, authorId, contributorId, effectiveTimeMs, payload }
  return {
    ...latest,
    signals: latest.signals.set(key, newest),
    ofAuthor: before === undefined ? latest.ofAuthor.set(authorId, own + 1) : latest.ofAuthor,
    oldestMs: latest.signals.size === 0 ? effectiveTimeMs : Math.min(latest.oldestMs, effectiveTimeMs),
  }
}

const swept = (latest: LatestSignals, nowMs: number): LatestSignals => {
  if (nowMs - latest.oldestMs <= AGE_MS_MAX) return latest
  const old: string[] = []
  const gone = new Map<string, number>()
  let oldestMs = nowMs
  for (const [key, { effectiveTimeMs, authorId }] of latest.signals) {
    if (nowMs - effectiveTimeMs > AGE_MS_MAX) {
      old.push(key)
      gone.set(authorId, (gone.get(authorId) ?? 0) + 1)
    } else if (effectiveTimeMs < oldestMs) oldestMs = effectiveTimeMs
  }
  if (old.length === 0) return { ...latest, oldestMs }
  const { signals, ofAuthor } = latest
  return { ...latest, signals: signals.deleteAll(old), ofAuthor: without(ofAuthor, gone), oldestMs }
}

const without = (
  ofAuthor: LatestSignals['ofAuthor'],
  gone: ReadonlyMap<string, number>,
): LatestSignals['ofAuthor'] =>
  ofAuthor.withMutations((counts) => {
    for (const [author, count] of gone) {
      const left = (counts.get(author) ?? 0) - count
      if (left > 0) counts.set(author, left)
      else counts.delete(author)
    }
  })
