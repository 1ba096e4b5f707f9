import { z } from 'zod'
import type { JsonObject, Json } from '../shared/json.ts'
import {
  DIRECTIONS,
  optionalDirection,
  optionalIndex,
  optionalNumber,
  symbol,
} from '../signal-types/declare.ts'

type Check = (value: Json) => boolean

interface Checks {
  readonly ofMember: ReadonlyMap<string, Check>
  readonly required: readonly string[]
}

/**
 * Whether every member is what the schema wants, looked at one by one: nothing is copied, which makes it many times as
 * quick. False says nothing: then the schema has to be asked.
 */
export const isPlainPayload = (schema: z.ZodObject, payload: JsonObject): boolean => {
  let checks = known.get(schema)
  if (checks === undefined) {
    checks = checksOf(schema)
    known.set(schema, checks)
  }
  if (checks === null) return false
  for (const member of checks.required) if (!Object.hasOwn(payload, member)) return false
  for (const member in payload) {
    const check = checks.ofMember.get(member)
    if (check !== undefined && !check(payload[member] as Json)) return false
  }
  return true
}

const known = new WeakMap<z.ZodObject, Checks | null>()

/** Null for a schema that looks at more than its members. */
const checksOf = (schema: z.ZodObject): Checks | null => {
  const { shape, catchall, checks = [] } = schema.def
  if (!(catchall instanceof z.ZodUnknown) || checks.length > 0) return null
  const members = Object.entries(shape) as readonly (readonly [string, z.ZodType])[]
  return {
    ofMember: new Map(members.map(([member, type]) => [member, checkOf(type)])),
    required: members.filter(([, type]) => !(type instanceof z.ZodOptional)).map(([member]) => member),
  }
}

const checkOf = (type: z.ZodType): Check => {
  if (type === optionalNumber) return (value) => typeof value === 'number' && Number.isFinite(value)
  if (type === optionalIndex) return (value) => typeof value === 'number' && value >= 0 && value <= 100
  if (type === symbol) return (value) => typeof value === 'string' && value.length > 0 && value.length <= 32
  if (type === optionalDirection) return (value) => DIRECTIONS.some((direction) => direction === value)
  return (value) => type.safeParse(value).success
}
