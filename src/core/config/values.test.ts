import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../shared/json.ts'
import { DEPTH_MAX, leavesOf, mergeValues, sameValue, valueAt, withoutValue, withValue } from './values.ts'

const name = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor')
const { tree } = fc.letrec<{ tree: JsonObject }>((tie) => ({
  tree: fc.dictionary(name, fc.oneof({ depthSize: 'small' }, fc.integer(), fc.constant([1]), tie('tree')), {
    maxKeys: 3,
  }),
}))

describe('mergeValues', () => {
  it('merges objects, replaces lists, and lets null say nothing', () => {
    expect(mergeValues({ a: { b: 1, c: [1, 2] }, d: 1 }, { a: { c: [3] }, d: null })).toStrictEqual({
      a: { b: 1, c: [3] },
      d: 1,
    })
  })

  it('keeps a null that stands on nothing, so that an unknown key is seen', () => {
    expect(mergeValues({}, { bogus: null })).toStrictEqual({ bogus: null })
  })

  it('has a neutral element, and the stronger side wins', () => {
    fc.assert(
      fc.property(tree, tree, (weaker, stronger) => {
        const merged = mergeValues(weaker, stronger)
        expect(sameValue(mergeValues(weaker, {}), weaker)).toBe(true)
        expect(sameValue(mergeValues({}, stronger), stronger)).toBe(true)
        expect(sameValue(mergeValues(merged, stronger), merged)).toBe(true)
        for (const { path, value } of leavesOf(stronger)) {
          if (!sameValue(value, {})) expect(sameValue(valueAt(merged, path), value)).toBe(true)
        }
      }),
    )
  })

  it('touches no prototype', () => {
    const merged = mergeValues(
      {},
      JSON.parse('{"__proto__":{"polluted":true},"constructor":{"x":1}}') as JsonObject,
    )
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect(valueAt(merged, ['toString'])).toBeUndefined()
  })

  it('does not follow what is nested too deep', () => {
    const nested = JSON.parse(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`) as JsonObject
    expect(leavesOf(nested)[0]?.path).toHaveLength(DEPTH_MAX)
    expect(() => mergeValues(nested, nested)).not.toThrow()
  })
})

describe('withValue and withoutValue', () => {
  it('set and take away one value, and leave the rest', () => {
    fc.assert(
      fc.property(
        tree,
        fc.array(name, { minLength: 1, maxLength: 3 }),
        fc.integer(),
        (values, path, value) => {
          const set = withValue(values, path, value)
          expect(valueAt(set, path)).toBe(value)
          const unset = withoutValue(set, path)
          expect(valueAt(unset, path)).toBeUndefined()
          const isElsewhere = (other: readonly string[]) =>
            path.some((part, index) => index < other.length && part !== other[index])
          for (const leaf of leavesOf(values).filter((one) => isElsewhere(one.path))) {
            expect(sameValue(valueAt(set, leaf.path), leaf.value)).toBe(true)
            expect(sameValue(valueAt(unset, leaf.path), leaf.value)).toBe(true)
          }
        },
      ),
    )
  })

  it('takes groups away that become empty', () => {
    expect(withoutValue({ a: { b: { c: 1 } }, d: 1 }, ['a', 'b', 'c'])).toStrictEqual({ d: 1 })
    expect(withoutValue({ a: 1 }, ['a', 'b'])).toStrictEqual({ a: 1 })
  })
})
