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
    const members: Record<string, Json> = {}
    for (const [key, member] of value.entries()) members[String(key)] = encode(member)
    return { [MAP]: members }
  }
  if (Array.isArray(value)) return value.map(encode)
  const object: Record<string, Json> = {}
  for (const [name, member] of Object.entries(value)) if (member !== undefined) object[name] = encode(member)
  return object
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
  return Object.fromEntries(Object.entries(object).map(([name, member]) => [name, decode(member)]))
}
