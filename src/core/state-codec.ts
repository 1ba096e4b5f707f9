import { Map as PersistentMap } from 'immutable'
import { canonicalJson } from './log/canonical-json.ts'
import type { State } from './state.ts'
import type { Json, JsonObject } from './vocabulary/json.ts'

/** The fold as canonical text: equal states have equal texts, whatever way led there. */
export const encodeState = (state: State): string => [...encodedParts(state)].join('')

/** The same text piece by piece, for those who have something else to do meanwhile. A large map is many pieces. */
export const encodedParts = (state: State): Iterable<string> => partsOf(state)

export const decodeState = (text: string): State => decode(JSON.parse(text) as Json) as State

const MAP = '$map'
const BIGINT = '$bigint'

/** Objects are opened up until there is a map or a list: their members are a piece each. */
function* partsOf(value: unknown): Generator<string> {
  if (PersistentMap.isMap(value)) {
    const members = [...value.entries()].map(([key, member]) => [String(key), member] as const)
    yield `{"${MAP}":{`
    let separator = ''
    for (const [key, member] of members.toSorted(byName)) {
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

const encode = (value: unknown): Json => {
  if (typeof value === 'bigint') return { [BIGINT]: value.toString() }
  if (value === null || typeof value !== 'object') return value as Json
  if (PersistentMap.isMap(value)) {
    return { [MAP]: objectFrom([...value.entries()].map(([key, member]) => [String(key), encode(member)])) }
  }
  if (Array.isArray(value)) return value.map(encode)
  return objectFrom(membersOf(value).map(([name, member]) => [name, encode(member)]))
}

/** In their order in the text, which is quicker to write then. */
const membersOf = (value: object): readonly (readonly [string, unknown])[] =>
  Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => [escaped(name), member] as const)
    .sort(byName)

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1

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

/** Strangers name members too, in what they say of themselves: theirs must not look like ours. */
const escaped = (name: string): string => (name.startsWith('$') ? `$${name}` : name)

const unescaped = (name: string): string => (name.startsWith('$') ? name.slice(1) : name)

/** A member named `__proto__` is one like any other; an assignment would lose it. */
const objectFrom = <Member>(
  members: readonly (readonly [string, Member])[],
): Readonly<Record<string, Member>> => Object.fromEntries(members)
