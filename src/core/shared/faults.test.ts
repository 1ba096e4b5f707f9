import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  type Fault,
  FAULT_TYPES,
  faultOf,
  FAULTS_MAX,
  faultsOf,
  type FaultType,
  sentenceOf,
} from './faults.ts'

const faultsFor = (schema: z.ZodType, input: unknown): readonly Fault[] => {
  const parsed = schema.safeParse(input)
  return parsed.success ? [] : faultsOf(parsed.error, ['body'], { input })
}

const refuseAlways = (type: FaultType) =>
  z.unknown().refine(() => false, faultOf(type, `must not be ${type}`))

const cases: readonly (readonly [FaultType, string, z.ZodType, unknown])[] = [
  ['missing', 'is required', z.string(), undefined],
  ['missing', 'is required', z.enum(['a', 'b']), undefined],
  ['missing', 'is required', z.int(), undefined],
  ['missing', 'is required', z.object({}), undefined],
  ['missing', 'is required', z.union([z.literal(0), z.literal(1)]), undefined],
  ['missing', 'must have at least 1 item', z.array(z.string()).min(1), []],
  ['string_type', 'must be a string', z.string(), 1],
  ['string_type', 'must be a string', z.string(), null],
  ['string_too_short', 'must have at least 1 character', z.string().min(1), ''],
  ['string_too_short', 'must have exactly 3 characters', z.string().length(3), 'ab'],
  ['string_too_long', 'must have at most 2 characters', z.string().max(2), 'abc'],
  ['string_pattern', 'must match /^a$/', z.string().regex(/^a$/), 'b'],
  ['string_pattern', 'must be lower case', z.string().regex(/^a$/, { error: 'must be lower case' }), 'A'],
  ['string_pattern', 'must match /^[A-Z]+$/', z.record(z.string().regex(/^[A-Z]+$/), z.number()), { a: 1 }],
  ['unicode_invalid', 'must not be unicode_invalid', refuseAlways('unicode_invalid'), '\ud800'],
  ['number_type', 'must be a number', z.number(), '1'],
  ['number_type', 'must be a number', z.coerce.number(), 'abc'],
  ['number_not_finite', 'must be a finite number', z.number(), JSON.parse('1e999')],
  ['number_not_finite', 'must be a finite number', z.number(), Number.NaN],
  ['int_type', 'must be a whole number', z.int(), 1.5],
  ['int_type', 'must be a multiple of 1', z.number().multipleOf(1), 1.5],
  ['greater_than_equal', 'must be at least 1', z.number().min(1), 0],
  ['greater_than_equal', 'must be greater than 0', z.number().gt(0), 0],
  ['less_than_equal', 'must be at most 500', z.int().max(500), 501],
  ['less_than_equal', 'must be less than 1', z.number().lt(1), 1],
  ['enum', 'must be one of paper, live', z.enum(['paper', 'live']), 'yolo'],
  ['enum', 'must be paper', z.literal('paper'), 'live'],
  ['enum', 'must be one of 0, 1', z.union([z.literal(0), z.literal(1)]), 2],
  ['boolean_type', 'must be true or false', z.boolean(), 'true'],
  ['object_type', 'must be an object', z.object({}), []],
  ['object_type', 'must be an object', z.record(z.string(), z.string()), 'x'],
  ['array_type', 'must be a list', z.array(z.string()), {}],
  ['array_type', 'must be a list', z.tuple([z.string()]), 'x'],
  ['too_deep', 'must not be too_deep', refuseAlways('too_deep'), {}],
  ['too_large', 'must have at most 1 item', z.array(z.string()).max(1), ['a', 'b']],
  ['timestamp_invalid', 'must not be timestamp_invalid', refuseAlways('timestamp_invalid'), 'nope'],
  ['timestamp_in_future', 'must not be timestamp_in_future', refuseAlways('timestamp_in_future'), 'x'],
  ['url_invalid', 'must be a URL', z.url(), 'text'],
  ['cron_invalid', 'must not be cron_invalid', refuseAlways('cron_invalid'), 'soon'],
  ['unknown_key', 'is not a known key', z.strictObject({}), { value: 1 }],
  ['conflict', 'Invalid input', z.unknown().refine(() => false), 1],
  ['conflict', 'must be a multiple of 2', z.number().multipleOf(2), 3],
  ['conflict', 'must be bigint', z.bigint(), 1],
  ['conflict', 'must have one of the documented forms', z.union([z.string(), z.number()]), true],
]

describe('faultsOf', () => {
  it.each(cases)('says %s: %s', (type, msg, schema, input) => {
    const wrapped = type === 'unknown_key' ? schema : z.object({ value: schema })
    const body = type === 'unknown_key' ? input : { value: input }
    const [fault, ...others] = faultsFor(wrapped, body)
    expect({ type: fault?.type, msg: fault?.msg, others }).toStrictEqual({ type, msg, others: [] })
    expect(fault?.loc.slice(0, 2)).toStrictEqual(['body', 'value'])
  })

  it('has a case for every word of the wire', () => {
    expect(new Set(cases.map(([type]) => type))).toStrictEqual(new Set(FAULT_TYPES))
  })

  it('reports all faults at once, list positions as text', () => {
    const schema = z.strictObject({
      limit: z.int().max(500),
      names: z.array(z.string()),
      mode: z.enum(['a', 'b']),
    })
    expect(faultsFor(schema, { limit: 501, names: ['a', 2], x: 1, y: 2 })).toStrictEqual([
      { loc: ['body', 'limit'], msg: 'must be at most 500', type: 'less_than_equal' },
      { loc: ['body', 'names', '1'], msg: 'must be a string', type: 'string_type' },
      { loc: ['body', 'mode'], msg: 'is required', type: 'missing' },
      { loc: ['body', 'x'], msg: 'is not a known key', type: 'unknown_key' },
      { loc: ['body', 'y'], msg: 'is not a known key', type: 'unknown_key' },
    ])
  })

  it('says a broken bound once, with the bound of the schema', () => {
    expect(faultsFor(z.int().max(5), 1e30)).toStrictEqual([
      { loc: ['body'], msg: 'must be at most 5', type: 'less_than_equal' },
    ])
  })

  it('tells the faults of the union branch that fits the kind of value', () => {
    const schema = z.union([z.string().min(3).max(5), z.null()])
    expect(faultsFor(schema, 'a').map(({ type }) => type)).toStrictEqual(['string_too_short'])
    const tagged = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a'), size: z.number() }),
      z.object({ kind: z.literal('b') }),
    ])
    expect(faultsFor(tagged, { kind: 'c' })).toStrictEqual([
      { loc: ['body', 'kind'], msg: 'must be one of a, b', type: 'enum' },
    ])
    expect(faultsFor(tagged, { kind: 'a', size: '1' })).toStrictEqual([
      { loc: ['body', 'size'], msg: 'must be a number', type: 'number_type' },
    ])
  })

  it('asks for the hint of an unknown key with its whole path', () => {
    const input = { api: { porrt: 1 } }
    const parsed = z.object({ api: z.strictObject({}) }).safeParse(input)
    const faults = faultsOf(parsed.error ?? new z.ZodError([]), [], {
      input,
      hintFor: (path) => `: ${path.join('>')}`,
    })
    expect(faults[0]?.msg).toBe('is not a known key: api>porrt')
  })

  it('tells missing and infinite values also without the input, or with the input zod reports', () => {
    const schema = z.object({ text: z.string(), size: z.number() })
    const typesOf = (error: z.ZodError | undefined) =>
      faultsOf(error ?? new z.ZodError([]), ['query']).map(({ type }) => type)
    const input = { size: Infinity }
    expect(typesOf(schema.safeParse(input).error)).toStrictEqual(['missing', 'number_not_finite'])
    expect(typesOf(schema.safeParse(input, { reportInput: true }).error)).toStrictEqual([
      'missing',
      'number_not_finite',
    ])
    expect(typesOf(z.enum(['a']).safeParse(undefined, { reportInput: true }).error)).toStrictEqual([
      'missing',
    ])
  })

  it('never answers with more than the limit', () => {
    const many = Object.fromEntries(Array.from({ length: FAULTS_MAX + 5 }, (_, index) => [`k${index}`, 1]))
    expect(faultsFor(z.strictObject({}), many)).toHaveLength(FAULTS_MAX)
    expect(faultsFor(z.array(z.string()), Object.values(many))).toHaveLength(FAULTS_MAX)
  })

  it('finds a fault exactly when the schema does, whatever is sent, and never repeats the value', () => {
    const schema = z.strictObject({
      a: z.int().min(0),
      b: z.object({ c: z.array(z.enum(['x', 'y'])).max(2) }),
      d: z.union([z.string().max(3), z.null()]).optional(),
    })
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.record({ a: fc.jsonValue(), b: fc.jsonValue() })), (input) => {
        const faults = faultsFor(schema, input)
        expect(faults.length > 0).toBe(!schema.safeParse(input).success)
        for (const { loc, type } of faults) {
          expect(loc[0]).toBe('body')
          expect(FAULT_TYPES).toContain(type)
        }
      }),
    )
    expect(JSON.stringify(faultsFor(z.object({ t: z.string().max(3) }), { t: 'hunter2' }))).not.toContain(
      'hunter2',
    )
  })
})

describe('sentenceOf', () => {
  it('names the member and what is wrong', () => {
    expect(sentenceOf({ loc: ['query', 'limit'], msg: 'must be at most 500', type: 'less_than_equal' })).toBe(
      'limit must be at most 500',
    )
    expect(sentenceOf({ loc: ['body'], msg: 'must be an object', type: 'object_type' })).toBe(
      'must be an object',
    )
  })
})
