import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { faultsOf } from './faults.ts'
import { hasTooManyValues, JSON_VALUES_MAX, OBJECT_DEPTH_MAX, storableObject } from './json-object.ts'

const schema = storableObject({
  bytesMax: 100,
  members: z.looseObject({ score: z.number().max(10).optional() }),
})

const faultsIn = (value: unknown) => {
  const parsed = z.object({ payload: schema }).safeParse({ payload: value })
  return parsed.success
    ? []
    : faultsOf(parsed.error, ['body'], { input: { payload: value } }).map(({ loc, type }) => [
        loc.join('.'),
        type,
      ])
}

const nested = (depth: number): object => (depth === 1 ? {} : { a: nested(depth - 1) })

describe('an object that is to be stored', () => {
  it('comes out as it went in, with members that nobody knows', () => {
    const value = JSON.parse('{"__proto__":{"a":1},"constructor":2,"score":3,"b":[null,"<b>"]}') as object
    const parsed = schema.parse(value)
    expect(parsed).toBe(value)
    expect(JSON.stringify(parsed)).toBe('{"__proto__":{"a":1},"constructor":2,"score":3,"b":[null,"<b>"]}')
  })

  it('has its known members checked', () => {
    expect(faultsIn({ score: 11 })).toEqual([['body.payload.score', 'less_than_equal']])
    expect(faultsIn({ score: '7' })).toEqual([['body.payload.score', 'number_type']])
  })

  it.each([[null], [[]], ['x'], [7], [true]])('is not %j', (value) => {
    expect(faultsIn(value)).toEqual([['body.payload', 'object_type']])
  })

  it('has at most so many bytes, however they are written', () => {
    expect(faultsIn({ a: 'x'.repeat(92) })).toEqual([])
    expect(faultsIn({ a: 'x'.repeat(93) })).toEqual([['body.payload', 'too_large']])
    expect(faultsIn({ a: 'ü'.repeat(46) })).toEqual([])
    expect(faultsIn({ a: 'ü'.repeat(47) })).toEqual([['body.payload', 'too_large']])
  })

  it('is not too deep', () => {
    const roomy = storableObject({ bytesMax: 100_000 })
    const typesOf = (value: unknown) =>
      roomy.safeParse(value).error?.issues.map((issue) => issue.message) ?? []
    expect(typesOf(nested(OBJECT_DEPTH_MAX))).toEqual([])
    expect(typesOf(nested(OBJECT_DEPTH_MAX + 1))).toEqual(['must not be nested deeper than 32'])
    expect(typesOf(nested(5000))).toEqual(['must not be nested deeper than 32'])
  })

  it('holds nothing that has no JSON', () => {
    expect(faultsIn({ a: '\ud800' })).toEqual([['body.payload', 'unicode_invalid']])
    expect(faultsIn({ '\ud800': 1 })).toEqual([['body.payload', 'unicode_invalid']])
    expect(faultsIn({ a: Infinity })).toEqual([['body.payload', 'number_not_finite']])
    expect(faultsIn({ a: new Date(0) })).toEqual([['body.payload', 'object_type']])
  })
})

describe('the values of a text', () => {
  const list = (count: number): string => `[${Array.from({ length: count }, () => '{}').join(',')}]`

  it('are counted with the lists and objects around them', () => {
    // Each object is one of its own and one of its list.
    const count = JSON_VALUES_MAX / 2 - 1
    expect(hasTooManyValues(list(count))).toBe(false)
    expect(hasTooManyValues(list(count + 1))).toBe(true)
  })

  it('are not what stands between quotes', () => {
    const text = ',[{'.repeat(JSON_VALUES_MAX)
    expect(hasTooManyValues(JSON.stringify([text, `\\"${text}`]))).toBe(false)
  })

  it('are few in a long text, and in a short one', () => {
    expect(hasTooManyValues(JSON.stringify('a'.repeat(2 * JSON_VALUES_MAX)))).toBe(false)
    for (const short of ['[]', list(10)]) expect(hasTooManyValues(short)).toBe(false)
  })
})
