import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { contributorId, type CanonicalSymbol, type ContributorId } from '../shared/brand.ts'
import { DAY_MS } from '../shared/time.ts'

/** A recent signal of a contributor on a symbol. */
interface RecentSignal {
  readonly contributorId: ContributorId
  readonly direction: string
  readonly atMs: number
}

/** How often two contributors signalled on one symbol at the same time, by day, and how often alike. */
interface CoSignalPair {
  readonly days: readonly { readonly day: number; readonly pairs: number; readonly alike: number }[]
}

/** Which contributors signal together. Bounded: old days are dropped, and beyond a limit no new pairs are added. */
export interface CoSignals {
  /** Two signals no further apart than this are a pair. */
  readonly windowSeconds: number
  readonly recent: PersistentMap<CanonicalSymbol, readonly RecentSignal[]>
  /** By both contributors, in order, and the symbol. */
  readonly pairs: PersistentMap<string, CoSignalPair>
}

export const NO_CO_SIGNALS: CoSignals = {
  windowSeconds: 600,
  recent: PersistentMap(),
  pairs: PersistentMap(),
}

/** Longer than any configuration looks back. */
const DAYS_KEPT = 365
const RECENT_SIGNALS_MAX = 64
const SYMBOLS_MAX = 2000
const PAIRS_MAX = 50_000

/** From when on contributors count as linked. */
interface LinkRules {
  readonly days: number
  readonly pairs: number
  readonly agreement: number
}

export const evolveCoSignals = (coSignals: CoSignals, event: KnownEvent): CoSignals => {
  switch (event.type) {
    case 'attribution.recorded.v1':
      return attributed(coSignals, event.payload)
    case 'brain.cycle.v1':
      return swept(coSignals, Date.parse(event.ts))
    case 'system.started.v1': {
      const windowSeconds = event.payload.folding?.link_window_seconds ?? coSignals.windowSeconds
      return windowSeconds === coSignals.windowSeconds ? coSignals : { ...coSignals, windowSeconds }
    }
    default:
      return coSignals
  }
}

/** The group of each linked contributor, named after its first member. */
export const linkedGroups = (
  coSignals: CoSignals,
  rules: LinkRules,
  nowMs: number,
): ReadonlyMap<ContributorId, ContributorId> => {
  const oldestDay = Math.floor(nowMs / DAY_MS) - rules.days
  const leaders = new Map<ContributorId, ContributorId>()
  const leaderOf = (id: ContributorId): ContributorId => {
    const next = leaders.get(id) ?? id
    return next === id ? id : leaderOf(next)
  }
  for (const [key, { days }] of coSignals.pairs) {
    const counted = days.filter(({ day }) => day >= oldestDay)
    const pairs = counted.reduce((sum, one) => sum + one.pairs, 0)
    const alike = counted.reduce((sum, one) => sum + one.alike, 0)
    if (pairs < rules.pairs || alike < rules.agreement * pairs) continue
    const [one = NOBODY, other = NOBODY] = key.split(SEPARATOR).map((part) => contributorId(part))
    const [first = one, second = other] = [leaderOf(one), leaderOf(other)].toSorted()
    leaders.set(second, first)
    leaders.set(one, leaders.get(one) ?? first)
    leaders.set(other, leaders.get(other) ?? first)
  }
  return new Map([...leaders.keys()].map((id) => [id, leaderOf(id)]))
}

const SEPARATOR = '|'
const NOBODY = contributorId('')

const attributed = (coSignals: CoSignals, recorded: PayloadOf<'attribution.recorded.v1'>): CoSignals => {
  const { contributor_id: author, symbol, direction, received_at } = recorded
  if (author === null || symbol === null || direction === null) return coSignals
  return withSignal(coSignals, symbol, { contributorId: author, direction, atMs: Date.parse(received_at) })
}

const withSignal = (coSignals: CoSignals, symbol: CanonicalSymbol, signal: RecentSignal): CoSignals => {
  const known = coSignals.recent.get(symbol) ?? []
  const near: RecentSignal[] = []
  let { pairs } = coSignals
  for (const other of known) {
    if (signal.atMs - other.atMs > coSignals.windowSeconds * 1000) continue
    near.push(other)
    if (other.contributorId !== signal.contributorId) pairs = withPair(pairs, symbol, signal, other)
  }
  if (known.length === 0 && coSignals.recent.size >= SYMBOLS_MAX) return { ...coSignals, pairs }
  near.push(signal)
  if (near.length > RECENT_SIGNALS_MAX) near.shift()
  return { ...coSignals, recent: coSignals.recent.set(symbol, near), pairs }
}

const withPair = (
  pairs: CoSignals['pairs'],
  symbol: CanonicalSymbol,
  signal: RecentSignal,
  other: RecentSignal,
): CoSignals['pairs'] => {
  const key = [...[signal.contributorId, other.contributorId].toSorted(), symbol].join(SEPARATOR)
  const before = pairs.get(key)
  if (before === undefined && pairs.size >= PAIRS_MAX) return pairs
  const day = Math.floor(signal.atMs / DAY_MS)
  const days = recentDays(before?.days ?? [], day)
  const last = days.at(-1)
  const today = last?.day === day ? last : { day, pairs: 0, alike: 0 }
  const counted = {
    day,
    pairs: today.pairs + 1,
    alike: today.alike + (signal.direction === other.direction ? 1 : 0),
  }
  return pairs.set(key, { days: [...(last?.day === day ? days.slice(0, -1) : days), counted] })
}

/** Also bounds a pair that never stops. */
const recentDays = (days: CoSignalPair['days'], today: number): CoSignalPair['days'] =>
  (days[0]?.day ?? today) < today - DAYS_KEPT ? days.filter(({ day }) => day >= today - DAYS_KEPT) : days

/** Drops what is too old to count. */
const swept = (coSignals: CoSignals, nowMs: number): CoSignals => {
  const oldestDay = Math.floor(nowMs / DAY_MS) - DAYS_KEPT
  const oldestMs = nowMs - coSignals.windowSeconds * 1000
  const oldPairs = keysOf(coSignals.pairs, ({ days }) => (days.at(-1)?.day ?? 0) < oldestDay)
  const oldSymbols = keysOf(coSignals.recent, (signals) => (signals.at(-1)?.atMs ?? 0) < oldestMs)
  if (oldPairs.length === 0 && oldSymbols.length === 0) return coSignals
  return {
    ...coSignals,
    recent: coSignals.recent.deleteAll(oldSymbols),
    pairs: coSignals.pairs.deleteAll(oldPairs),
  }
}

const keysOf = <Key, Value>(
  map: PersistentMap<Key, Value>,
  matches: (value: Value) => boolean,
): readonly Key[] => [...map].filter(([, value]) => matches(value)).map(([key]) => key)
