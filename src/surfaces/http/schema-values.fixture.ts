import fc, { type Arbitrary } from 'fast-check'
import type { Schema } from './openapi-document.fixture.ts'

/** Text that has broken other programs. */
export const HOSTILE_TEXTS = [
  '',
  ' ',
  '|',
  'a|b',
  'a\u0000b',
  'a\nb\rc',
  '\u001b[2J',
  '\u007f',
  '\u202e\u200b\ufeff',
  '\ud800',
  'x\udfff',
  '__proto__',
  'constructor',
  'toString',
  '<script>alert(1)</script>',
  "'; DROP TABLE events; --",
  '${7*7}{{7*7}}%s%n',
  '../../../etc/passwd',
  'NaN',
  '-0',
  '1e999',
  '9'.repeat(40),
  '9999-12-31T23:59:59.999Z',
  'ﬀ'.repeat(100),
  'x'.repeat(5000),
] as const

/** Values of every kind that a schema may not have thought of. */
const HOSTILE_VALUES = [
  null,
  true,
  0,
  -1,
  0.5,
  1e308,
  Number.MAX_SAFE_INTEGER + 2,
  [],
  {},
  [[[]]],
  [null, 'x'],
  { toString: 1, constructor: { prototype: {} } },
] as const

/** Mostly what the schema allows, sometimes its edges, sometimes anything. `lucky` are texts that mean something. */
export const valueFor = (schema: Schema, lucky: readonly string[]): Arbitrary<unknown> =>
  fc.oneof(
    { weight: 12, arbitrary: allowedBy(schema, lucky) },
    { weight: 2, arbitrary: edgeOf(schema) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(...HOSTILE_TEXTS, ...HOSTILE_VALUES) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  )

const allowedBy = (schema: Schema, lucky: readonly string[]): Arbitrary<unknown> => {
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return fc.oneof(...choices.map((choice) => allowedBy(choice, lucky)))
  const types = schema.type === undefined ? [] : [schema.type].flat()
  return types.length === 0
    ? fc.jsonValue({ maxDepth: 2 })
    : fc.oneof(...types.map((type) => ofType(type, schema, lucky)))
}

const ofType = (type: string, schema: Schema, lucky: readonly string[]): Arbitrary<unknown> => {
  switch (type) {
    case 'string':
      return textFor(schema, lucky)
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1000, max: schema.maximum ?? 1_000_000 })
    case 'number':
      return fc.double({ min: schema.minimum ?? -1e12, max: schema.maximum ?? 1e12, noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(schema.items === undefined ? fc.jsonValue() : valueFor(schema.items, lucky), {
        maxLength: 4,
      })
    default:
      return objectFor(schema, lucky)
  }
}

const PATTERN_LENGTH_MAX = 200

const textFor = ({ minLength = 0, maxLength = 300, pattern, format }: Schema, lucky: readonly string[]) => {
  if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
  if (format === 'uri') return fc.webUrl()
  const size = { minLength, maxLength: Math.min(maxLength, Math.max(40, minLength)) }
  const text =
    pattern === undefined
      ? fc.string({ unit: 'grapheme', ...size })
      : // A pattern may demand more than the usual length, such as the 64 digits of a key.
        fc.stringMatching(new RegExp(pattern, 'u'), { maxLength: Math.min(maxLength, PATTERN_LENGTH_MAX) })
  return lucky.length === 0 ? text : fc.oneof(text, { weight: 2, arbitrary: fc.constantFrom(...lucky) })
}

const objectFor = ({ properties, required = [] }: Schema, lucky: readonly string[]): Arbitrary<unknown> => {
  if (properties === undefined)
    return fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue(), { maxKeys: 4 })
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, member]) => [name, valueFor(member, lucky)]),
  )
  const usual = fc.record(members, { requiredKeys: [...required] })
  // Now and then something required is missing, or something unknown is there.
  return fc.oneof(
    { weight: 8, arbitrary: usual },
    { weight: 1, arbitrary: fc.record(members, { requiredKeys: [] }) },
    { weight: 1, arbitrary: usual.map((value) => ({ ...value, unknown_member: { __proto__: null } })) },
  )
}

/** Just inside and just outside of what the schema allows. */
const edgeOf = (schema: Schema): Arbitrary<unknown> => {
  const { minimum, maximum, minLength, maxLength } = schema
  const numbers = [minimum, maximum].flatMap((bound) =>
    bound === undefined ? [] : [bound - 1, bound, bound + 1, bound + 0.5],
  )
  const lengths = [minLength, maxLength].flatMap((bound) =>
    bound === undefined ? [] : [bound - 1, bound, bound + 1],
  )
  const texts = lengths.filter((length) => length >= 0).map((length) => 'a'.repeat(length))
  const edges: readonly unknown[] = [...numbers, ...texts]
  return edges.length === 0 ? fc.constantFrom<unknown>(...HOSTILE_TEXTS) : fc.constantFrom(...edges)
}
