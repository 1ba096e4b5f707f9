import { Map as PersistentMap } from 'immutable'
import { canonicalJson } from './log/canonical-json.ts'
import type { State } from './state.ts'
import type { Json, JsonObject } from './vocabulary/json.ts'

/** The fold as canonical text: equal states have equal texts, whatever way led there. */
export const encodeState = (state: State): string => canonicalJson(encode(state))

export const decodeState = (text: string): State => decode(JSON.parse(text) as Json) as State

const MAP = '$map'
const BIGINT = '$bigint'

const encode = (value: unknown): Json => {
  if (typeof value === 'bigint') return { [BIGINT]: value.toString() }
  if (value === null || typeof value !== 'object') return value as Json
  if (PersistentMap.isMap(value)) {
    return { [MAP]: objectFrom([...value.entries()].map(([key, member]) => [String(key), encode(member)])) }
  }
  if (Array.isArray(value)) return value.map(encode)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return objectFrom(members.map(([name, member]) => [escaped(name), encode(member)]))
}

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
