import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { combinationsOf, countOf, parseParameterValues, randomCombinations, SpaceError } from './space.ts'

describe('the values of a parameter', () => {
  it.each([
    ['fast=5..20:5', [5, 10, 15, 20]],
    ['fast=5..8', [5, 6, 7, 8]],
    ['fast=0.1..0.5:0.1', [0.1, 0.2, 0.3, 0.4, 0.5]],
    ['fast=-2..2:2', [-2, 0, 2]],
    ['fast=7', [7]],
    ['fast=5,10..12,60', [5, 10, 11, 12, 60]],
    ['fast=true,false', [true, false]],
    ['fast=sma,ema', ['sma', 'ema']],
  ])('%s are %j', (text, values) => {
    expect(parseParameterValues(text)).toStrictEqual({ name: 'fast', values })
  })

  it.each([
    'fast',
    'fast=',
    '=5',
    'fast=5,,6',
    'fast=9..5',
    'fast=1..5:0',
    'fast=5,5',
    'fast=0..1:0.0000001',
    'a b=1',
  ])('%s is refused', (text) => {
    expect(parseParameterValues(text)).toBeNull()
  })

  it('are refused where they are finer than a number, or more than fit into memory', () => {
    expect(parseParameterValues(`fast=0..1:0.${'0'.repeat(120)}1`)).toBeNull()
    expect(parseParameterValues(`fast=${'1..9999,'.repeat(200_000)}1`)).toBeNull()
  })
})

describe('combinations', () => {
  it('are all of them, the last parameter fastest', () => {
    const space = [
      { name: 'fast', values: [1, 2] },
      { name: 'slow', values: [10, 20] },
    ]
    expect(combinationsOf(space)).toStrictEqual([
      { fast: 1, slow: 10 },
      { fast: 1, slow: 20 },
      { fast: 2, slow: 10 },
      { fast: 2, slow: 20 },
    ])
  })

  it('are refused where there are too many, or a parameter is set twice', () => {
    const many = { name: 'a', values: Array.from({ length: 1000 }, (_, index) => index) }
    expect(() => combinationsOf([many, { ...many, name: 'b' }])).toThrow(SpaceError)
    expect(() => combinationsOf([many, many])).toThrow('a is set twice')
  })

  it('by chance are distinct, part of the grid, in its order, and the same for the same draws', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 30 }),
        // At the modulus itself the draws would all be 0, and never distinct.
        fc.integer({ min: 1, max: 0x7ffffffe }),
        (sizes, wanted, seed) => {
          const space = sizes.map((size, index) => ({
            name: `p${index}`,
            values: Array.from({ length: size }, (_, value) => value),
          }))
          const draws = (): (() => number) => {
            let state = seed
            return () => (state = (state * 48_271) % 0x7fffffff) / 0x7fffffff
          }
          const all = combinationsOf(space).map((one) => JSON.stringify(one))
          const chosen = randomCombinations(space, wanted, draws()).map((one) => JSON.stringify(one))
          expect(chosen).toStrictEqual(all.filter((one) => chosen.includes(one)))
          expect(chosen).toHaveLength(Math.min(wanted, countOf(space)))
          expect(randomCombinations(space, wanted, draws()).map((one) => JSON.stringify(one))).toStrictEqual(
            chosen,
          )
        },
      ),
    )
  })
})
