import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { BUILT_IN_STRATEGIES, builtInStrategy } from './built-in.ts'
import { describeParameters, parameterText, parseParameters } from './parameters.ts'

const SCHEMA = z.object({
  fast: z.int().min(2).max(200).default(10),
  share: z.number().gt(0).default(0.5),
  mode: z.enum(['calm', 'quick']).default('calm'),
  shorts: z.boolean().default(true),
})

const parsed = (given: Readonly<Record<string, string | number | boolean>>) => parseParameters(SCHEMA, given)

describe('parameters', () => {
  it('have defaults, and are read from text', () => {
    expect(parsed({})).toMatchObject({
      status: 'valid',
      values: { fast: 10, share: 0.5, mode: 'calm', shorts: true },
    })
    expect(parsed({ fast: '5', share: '1e-3', mode: 'quick', shorts: 'false' })).toMatchObject({
      status: 'valid',
      values: { fast: 5, share: 0.001, mode: 'quick', shorts: false },
    })
    expect(parsed({ fast: 7 })).toMatchObject({ status: 'valid', values: { fast: 7 } })
  })

  it.each([
    [{ fats: '5' }, 'no parameter is named fats, did you mean fast? (there are fast 10, 2 to 200'],
    [{ fast: '1' }, '(fast 10, 2 to 200)'],
    [{ fast: '2.5' }, 'fast'],
    [{ fast: 'many' }, 'fast'],
    [{ fast: '' }, 'fast'],
    [{ fast: '0x10' }, 'fast'],
    [{ mode: 'wild' }, '(mode calm, calm | quick)'],
    [{ shorts: 'maybe' }, 'shorts'],
  ])('refuse %o', (given, message) => {
    const result = parsed(given)
    expect(result.status === 'invalid' ? result.problems.join('; ') : '').toContain(message)
  })

  it('are described for people', () => {
    expect(describeParameters(SCHEMA).map(parameterText)).toEqual([
      'fast 10, 2 to 200',
      'share 0.5, from 0',
      'mode calm, calm | quick',
      'shorts true',
    ])
  })

  it('of built-in rules have the defaults that they always had', () => {
    const defaults = BUILT_IN_STRATEGIES.map(({ name, parameters }) => [name, parameters.parse({})])
    expect(Object.fromEntries(defaults)).toEqual({
      always_long: {},
      hold: {},
      ma_crossover: { fast: 10, slow: 50 },
      momentum: { bars: 20, threshold: 0.02 },
    })
  })

  it('may depend on one another', () => {
    const schema = builtInStrategy('ma_crossover')?.parameters ?? SCHEMA
    expect(parseParameters(schema, { fast: 50 })).toMatchObject({
      status: 'invalid',
      problems: ['parameters: fast must be smaller than slow'],
    })
  })
})
