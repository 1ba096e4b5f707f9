import { isJsonObject } from '../shared/json-object.ts'
import type { Json, JsonObject } from '../shared/json.ts'

export type KeyPath = readonly string[]

export interface Leaf {
  readonly path: KeyPath
  readonly value: Json
}

/** Depth limit of keys. Deeper values are not merged, and the schema rejects them. */
export const DEPTH_MAX = 16

/** Merges the stronger values over the weaker. Objects merge, other values replace, and null has no effect. */
export const mergeValues = (weaker: JsonObject, stronger: JsonObject, depth = 0): JsonObject => {
  const merged = new Map(Object.entries(weaker))
  for (const [name, value] of Object.entries(stronger)) {
    const below = merged.get(name)
    // A null without a weaker value belongs to an unknown key. It stays, so that the schema rejects it.
    if (value === null && below !== undefined) continue
    const merges = isJsonObject(value) && depth < DEPTH_MAX
    merged.set(name, merges ? mergeValues(isJsonObject(below) ? below : {}, value, depth + 1) : value)
  }
  return Object.fromEntries(merged)
}

/** Everything that is not an object, and objects without members. */
export const leavesOf = (values: JsonObject, path: KeyPath = []): readonly Leaf[] =>
  Object.entries(values).flatMap(([name, value]) => {
    const here = [...path, name]
    const descends = isJsonObject(value) && Object.keys(value).length > 0 && here.length < DEPTH_MAX
    return descends ? leavesOf(value, here) : [{ path: here, value }]
  })

export const valueAt = (values: Json, path: KeyPath): Json | undefined =>
  path.reduce<Json | undefined>(
    (value, name) => (isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    values,
  )

export const withValue = (values: JsonObject, [name, ...rest]: KeyPath, value: Json): JsonObject => {
  if (name === undefined) return values
  const below = valueAt(values, [name])
  const member = rest.length === 0 ? value : withValue(isJsonObject(below) ? below : {}, rest, value)
  return Object.fromEntries([...Object.entries(values).filter(([other]) => other !== name), [name, member]])
}

/** Groups that become empty go too. */
export const withoutValue = (values: JsonObject, [name, ...rest]: KeyPath): JsonObject => {
  const members = Object.entries(values).flatMap(([other, value]): readonly (readonly [string, Json])[] => {
    if (other !== name) return [[other, value]]
    if (rest.length === 0) return []
    if (!isJsonObject(value)) return [[other, value]]
    const smaller = withoutValue(value, rest)
    return Object.keys(smaller).length === 0 ? [] : [[other, smaller]]
  })
  return Object.fromEntries(members)
}

export const sameValue = (one: Json | undefined, other: Json | undefined): boolean => {
  if (one === other) return true
  if (isList(one) && isList(other)) {
    return one.length === other.length && one.every((item, index) => sameValue(item, other[index]))
  }
  if (!isJsonObject(one) || !isJsonObject(other)) return false
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && sameValue(one[name], other[name]))
  )
}

export const isList = (value: unknown): value is readonly Json[] => Array.isArray(value)
