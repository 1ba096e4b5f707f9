import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { DAY_MS } from '../shared/time.ts'

/** One word of a contributor on a symbol, a moment ago. */
interface RecentWord {
  readonly contributorId: string
  readonly direction: string
  readonly atMs: number
}

/** How often two contributors spoke about the same symbol at the same time, by day, and how often alike. */
export interface CoSignalPair {
  readonly days: readonly { readonly day: number; readonly pairs: number; readonly alike: number }[]
}

/** Who speaks together with whom. Bounded: it forgets after a month, and beyond its limits it learns no new pairs. */
export interface CoSignals {
  /** Words no further apart than this are a pair. */
  readonly windowSeconds: number
  readonly recent: PersistentMap<string, readonly RecentWord[]>
  /** By both contributors, in order, and the symbol. */
  readonly company: PersistentMap<string, CoSignalPair>
}

export const NO_CO_SIGNALS: CoSignals = {
  windowSeconds: 600,
  recent: PersistentMap(),
  company: PersistentMap(),
}

/** Longer than any configuration looks back. */
const DAYS_KEPT = 365
const RECENT_WORDS_MAX = 64
const SYMBOLS_MAX = 2000
const COMPANY_MAX = 50_000

/** What counts as acting as one. */
export interface LinkRules {
  readonly days: number
  readonly pairs: number
  readonly agreement: number
}

export const evolveCoSignals = (links: CoSignals, event: KnownEvent): CoSignals => {
  switch (event.type) {
    case 'attribution.recorded.v1':
      return attributed(links, event.payload)
    case 'brain.cycle.v1':
      return swept(links, Date.parse(event.ts))
    case 'system.started.v1': {
      const windowSeconds = event.payload.folding?.link_window_seconds ?? links.windowSeconds
      return windowSeconds === links.windowSeconds ? links : { ...links, windowSeconds }
    }
    default:
      return links
  }
}

/** For each contributor who acts as one with others, the name of the group: that of its first member. */
export const linkedGroups = (
  links: CoSignals,
  rules: LinkRules,
  nowMs: number,
): ReadonlyMap<string, string> => {
  const oldestDay = Math.floor(nowMs / DAY_MS) - rules.days
  const leaders = new Map<string, string>()
  const leaderOf = (id: string): string => {
    const next = leaders.get(id) ?? id
    return next === id ? id : leaderOf(next)
  }
  for (const [key, { days }] of links.company) {
    const counted = days.filter(({ day }) => day >= oldestDay)
    const pairs = counted.reduce((sum, one) => sum + one.pairs, 0)
    const alike = counted.reduce((sum, one) => sum + one.alike, 0)
    if (pairs < rules.pairs || alike < rules.agreement * pairs) continue
    const [one = '', other = ''] = key.split(SEPARATOR)
    const [first = '', second = ''] = [leaderOf(one), leaderOf(other)].toSorted()
    leaders.set(second, first)
    leaders.set(one, leaders.get(one) ?? first)
    leaders.set(other, leaders.get(other) ?? first)
  }
  return new Map([...leaders.keys()].map((id) => [id, leaderOf(id)]))
}

const SEPARATOR = '|'

const attributed = (links: CoSignals, said: PayloadOf<'attribution.recorded.v1'>): CoSignals => {
  const { contributor_id: contributorId, symbol, direction, received_at } = said
  if (contributorId === null || symbol === null || direction === null) return links
  return spoken(links, symbol, { contributorId, direction, atMs: Date.parse(received_at) })
}

const spoken = (links: CoSignals, symbol: string, word: RecentWord): CoSignals => {
  const known = links.recent.get(symbol) ?? []
  const near: RecentWord[] = []
  let { company } = links
  for (const other of known) {
    if (word.atMs - other.atMs > links.windowSeconds * 1000) continue
    near.push(other)
    if (other.contributorId !== word.contributorId) company = withPair(company, symbol, word, other)
  }
  if (known.length === 0 && links.recent.size >= SYMBOLS_MAX) return { ...links, company }
  near.push(word)
  if (near.length > RECENT_WORDS_MAX) near.shift()
  return { ...links, recent: links.recent.set(symbol, near), company }
}

const withPair = (
  company: CoSignals['company'],
  symbol: string,
  word: RecentWord,
  other: RecentWord,
): CoSignals['company'] => {
  const key = [...[word.contributorId, other.contributorId].toSorted(), symbol].join(SEPARATOR)
  const before = company.get(key)
  if (before === undefined && company.size >= COMPANY_MAX) return company
  const day = Math.floor(word.atMs / DAY_MS)
  const days = recentDays(before?.days ?? [], day)
  const last = days.at(-1)
  const today = last?.day === day ? last : { day, pairs: 0, alike: 0 }
  const counted = {
    day,
    pairs: today.pairs + 1,
    alike: today.alike + (word.direction === other.direction ? 1 : 0),
  }
  return company.set(key, { days: [...(last?.day === day ? days.slice(0, -1) : days), counted] })
}

/** Two who never stop speaking together are not remembered for ever either. */
const recentDays = (days: CoSignalPair['days'], today: number): CoSignalPair['days'] =>
  (days[0]?.day ?? today) < today - DAYS_KEPT ? days.filter(({ day }) => day >= today - DAYS_KEPT) : days

/** A cycle takes down what is too old to count. */
const swept = (links: CoSignals, nowMs: number): CoSignals => {
  const oldestDay = Math.floor(nowMs / DAY_MS) - DAYS_KEPT
  const oldestMs = nowMs - links.windowSeconds * 1000
  const apart = keysOf(links.company, ({ days }) => (days.at(-1)?.day ?? 0) < oldestDay)
  const silent = keysOf(links.recent, (words) => (words.at(-1)?.atMs ?? 0) < oldestMs)
  if (apart.length === 0 && silent.length === 0) return links
  return { ...links, recent: links.recent.deleteAll(silent), company: links.company.deleteAll(apart) }
}

const keysOf = <Value>(
  map: PersistentMap<string, Value>,
  isMeant: (value: Value) => boolean,
): readonly string[] => [...map].filter(([, value]) => isMeant(value)).map(([key]) => key)
