import type { Schema } from './openapi-document.fixture.ts'

/** A value that one member must not have, and the word by which it is refused. */
export interface FieldFault {
  readonly kind?: 'type'
  readonly value: unknown
  readonly type: string
  /** JSON text that no JavaScript value serializes to. It replaces the value `<text>`. */
  readonly text?: string
}

/** Everything that the schema of a member forbids: kinds, lengths, ranges, characters. */
export const faultsOfField = (schema: Schema): readonly FieldFault[] => {
  const parts = schema.anyOf ?? [schema]
  const types = parts.flatMap(({ type = [] }) => type)
  const part = parts.find(({ type }) => type !== 'null') ?? schema
  return [...kindFaults(part, types), ...boundFaults(part), ...textFaults(types)]
}

const SAMPLES: Readonly<Record<string, unknown>> = {
  string: 'text',
  number: 7.25,
  boolean: true,
  object: { a: 1 },
  array: [[]],
  null: null,
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'string_type',
  number: 'number_type',
  integer: 'number_type',
  boolean: 'boolean_type',
  object: 'object_type',
  array: 'array_type',
}

const kindFaults = (part: Schema, types: readonly string[]): readonly FieldFault[] => {
  const kind = types.find((type) => type !== 'null') ?? ''
  const type = part.enum === undefined ? (WORDS[kind] ?? '') : 'enum'
  return Object.entries(SAMPLES)
    .filter(([sample]) => !types.includes(sample))
    .map(([sample, value]) => ({
      kind: 'type',
      value,
      type: kind === 'integer' && sample === 'number' ? 'int_type' : type,
    }))
}

const boundFaults = ({ minimum, maximum, minLength = 0, maxLength, enum: values, pattern }: Schema) => [
  ...(minimum === undefined ? [] : [{ value: minimum - 1, type: 'greater_than_equal' }]),
  ...(maximum === undefined ? [] : [{ value: maximum + 1, type: 'less_than_equal' }]),
  ...(minLength === 0 ? [] : [{ value: '', type: 'string_too_short' }]),
  ...(maxLength === undefined ? [] : [{ value: 'x'.repeat(maxLength + 1), type: 'string_too_long' }]),
  ...(values === undefined ? [] : ['', 'nope', '__proto__'].map((value) => ({ value, type: 'enum' }))),
  ...(pattern === undefined
    ? []
    : ['a|b', 'a\nb', '\u0000'].map((value) => ({ value, type: 'string_pattern' }))),
]

/** A lone surrogate and a number beyond all numbers have no meaning in any member. */
const textFaults = (types: readonly string[]): readonly FieldFault[] => [
  ...(types.includes('string') ? [{ value: '<text>', text: '"\\ud800"', type: 'unicode_invalid' }] : []),
  ...(types.some((type) => type === 'number' || type === 'integer')
    ? [{ value: '<text>', text: '1e999', type: 'number_not_finite' }]
    : []),
]
