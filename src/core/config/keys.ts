import { z } from 'zod'
import { nearest } from '../shared/nearest.ts'
import { configurationSchema } from './schema.ts'
import type { KeyPath } from './values.ts'

export type KeyKind = 'text' | 'number' | 'flag' | 'texts' | 'numbers' | 'map'

/** One settable key, as the schema declares it. */
export interface Key {
  readonly path: KeyPath
  readonly kind: KeyKind
  readonly description: string
}

/** Every key in the order of the schema. A map is one key: its members are data. */
export const CONFIGURATION_KEYS: readonly Key[] = keysIn(configurationSchema, [])

/** Names of the members of a group; null below a key or inside a map. */
export const namesIn = (path: KeyPath): readonly string[] | null => {
  const schema = path.reduce<z.core.$ZodType | null>(
    (group, name) => (group === null ? null : memberOf(group, name)),
    configurationSchema,
  )
  const shape = schema === null ? null : shapeOf(schema)
  return shape === null ? null : Object.keys(shape)
}

/** Looks up own members only: `constructor` is not the name of a key. */
const memberOf = (group: z.core.$ZodType, name: string): z.core.$ZodType | null => {
  const shape = shapeOf(group)
  return shape !== null && Object.hasOwn(shape, name) ? (shape[name] ?? null) : null
}

/** Whether the path is a group, a key, or lies inside a map. */
export const isKnown = (path: KeyPath): boolean =>
  namesIn(path) !== null ||
  CONFIGURATION_KEYS.some((key) => {
    const within = key.kind === 'map' ? path.slice(0, key.path.length) : path
    return within.length === key.path.length && key.path.every((name, index) => name === within[index])
  })

function keysIn(schema: z.core.$ZodType, path: KeyPath): readonly Key[] {
  const shape = shapeOf(schema)
  if (shape === null) return [{ path, kind: kindOf(schema), description: descriptionOf(schema) }]
  return Object.entries(shape).flatMap(([name, member]) => keysIn(member, [...path, name]))
}

function descriptionOf(schema: z.core.$ZodType): string {
  return z.globalRegistry.get(schema)?.description ?? ''
}

function shapeOf(schema: z.core.$ZodType): Readonly<Record<string, z.core.$ZodType>> | null {
  const inner = unwrapped(schema)
  return inner instanceof z.ZodObject ? inner.shape : null
}

function kindOf(schema: z.core.$ZodType): KeyKind {
  const inner = unwrapped(schema)
  if (inner instanceof z.ZodNumber) return 'number'
  if (inner instanceof z.ZodBoolean) return 'flag'
  if (inner instanceof z.ZodArray) return 'texts'
  if (inner instanceof z.ZodTuple) return 'numbers'
  return inner instanceof z.ZodRecord ? 'map' : 'text'
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodNullable
    ? unwrapped(schema.def.innerType)
    : schema
}

/** `; did you mean "auth_token"?` for an unknown key, or nothing when no key is near. */
export const hintFor = (path: KeyPath): string => {
  const wrong = path.at(-1) ?? ''
  const sibling = nearest(wrong, namesIn(path.slice(0, -1)) ?? [])
  if (sibling !== null) return `; did you mean "${sibling}"?`
  const elsewhere = CONFIGURATION_KEYS.find((key) => key.path.length > 1 && key.path.at(-1) === wrong.trim())
  return elsewhere === undefined ? '' : `; did you mean "${elsewhere.path.join('.')}"?`
}
