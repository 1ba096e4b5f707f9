import { Map as PersistentMap } from 'immutable'
import { canonicalJson } from './log/canonical-json.ts'
import type { State } from './state.ts'
import type { Json, JsonObject } from './shared/json.ts'

/** The fold as canonical text: equal states have equal texts, however they were reached. */
export const encodeState = (state: State): string => [...encodedParts(state)].join('')

/** The text of `encodeState` in pieces, some of them empty, so that the caller can do other work in between. */
export const encodedParts = (state: State): Iterable<string> => partsOf(state)

export const decodeState = (text: string): State => decode(JSON.parse(text) as Json) as State

const MAP = '$map'
const BIGINT = '$bigint'

/** Descends into objects down to a map or a list, whose members become one piece each. */
function* partsOf(value: unknown): Generator<string> {
  if (PersistentMap.isMap(value)) {
    const members = yield* sortedInSteps(value)
    yield `{"${MAP}":{`
    let separator = ''
    for (const [key, member] of members) {
      yield `${separator}${canonicalJson(key)}:${canonicalJson(encode(member))}`
      separator = ','
    }
    yield '}}'
  } else if (Array.isArray(value)) {
    yield '['
    let separator = ''
    for (const member of value) {
      yield `${separator}${canonicalJson(encode(member))}`
      separator = ','
    }
    yield ']'
  } else if (value !== null && typeof value === 'object') {
    yield '{'
    let separator = ''
    for (const [name, member] of membersOf(value)) {
      yield `${separator}${canonicalJson(name)}:`
      yield* partsOf(member)
      separator = ','
    }
    yield '}'
  } else {
    yield canonicalJson(encode(value))
  }
}

type Member = readonly [name: string, value: unknown]

/** Sorts short stretches and merges them into longer ones. Yields an empty piece after each bit of work. */
function* sortedInSteps(map: PersistentMap<unknown, unknown>): Generator<string, readonly Member[]> {
  let stretches: (readonly Member[])[] = []
  let stretch: Member[] = []
  for (const [key, member] of map.entries()) {
    stretch.push([String(key), member])
    if (stretch.length < SORTED_AT_ONCE) continue
    stretches.push(stretch.sort(byName))
    stretch = []
    yield ''
  }
  stretches.push(stretch.sort(byName))
  while (stretches.length > 1) {
    const longer: (readonly Member[])[] = []
    for (let index = 0; index < stretches.length; index += 2) {
      longer.push(yield* merged(stretches[index] ?? [], stretches[index + 1] ?? []))
    }
    stretches = longer
  }
  return stretches[0] ?? []
}

function* merged(ones: readonly Member[], others: readonly Member[]): Generator<string, readonly Member[]> {
  const both: Member[] = []
  let [at, otherAt] = [0, 0]
  for (;;) {
    const [one, other] = [ones[at], others[otherAt]]
    const next = other === undefined || (one !== undefined && byName(one, other) < 0) ? one : other
    if (next === undefined) return both
    if (next === one) at += 1
    else otherAt += 1
    both.push(next)
    if (both.length % (2 * SORTED_AT_ONCE) === 0) yield ''
  }
}

/** Members sorted at once: much less than a millisecond's work. */
const SORTED_AT_ONCE = 500

const encode = (value: unknown): Json => {
  if (typeof value === 'bigint') return { [BIGINT]: value.toString() }
  if (value === null || typeof value !== 'object') return value as Json
  if (PersistentMap.isMap(value)) {
    return { [MAP]: objectFrom([...value.entries()].map(([key, member]) => [String(key), encode(member)])) }
  }
  if (Array.isArray(value)) return value.map(encode)
  return objectFrom(membersOf(value).map(([name, member]) => [name, encode(member)]))
}

/** Members in the order of the text, in which JSON is written faster. */
const membersOf = (value: object): readonly Member[] =>
  Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => [escaped(name), member] as const)
    .sort(byName)

const byName = ([one]: Member, [other]: Member): number => (one < other ? -1 : 1)

const decode = (value: Json): unknown => {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(decode)
  const object = value as JsonObject
  const bigint = object[BIGINT]
  if (typeof bigint === 'string') return BigInt(bigint)
  const map = object[MAP]
  if (map !== undefined) {
    return PersistentMap(Object.entries(map as JsonObject).map(([key, member]) => [key, decode(member)]))
  }
  return objectFrom(Object.entries(object).map(([name, member]) => [unescaped(name), decode(member)]))
}

/** Clients name members too, in their metadata. Escaping keeps those names apart from the codec's markers. */
const escaped = (name: string): string => (name.startsWith('$') ? `$${name}` : name)

const unescaped = (name: string): string => (name.startsWith('$') ? name.slice(1) : name)

/** `Object.fromEntries` keeps a member named `__proto__`, which an assignment would lose. */
const objectFrom = <Value>(members: readonly (readonly [string, Value])[]): Readonly<Record<string, Value>> =>
  Object.fromEntries(members)
