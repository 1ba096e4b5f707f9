import { describe, expect, it } from 'vitest'
import { CONFIGURATION_KEYS, isKnown, namesIn } from './keys.ts'
import { asValues } from './layers.ts'
import { configurationJsonSchema } from './schema.ts'
import { DEFAULT_CONFIGURATION, warningsOf } from './validate.ts'
import { leavesOf } from './values.ts'

describe('keys', () => {
  it('are all described, and the defaults hold exactly them', () => {
    expect(CONFIGURATION_KEYS.filter(({ description }) => description === '')).toStrictEqual([])
    const maps = CONFIGURATION_KEYS.filter(({ kind }) => kind === 'map').map(({ path }) => path.join('.'))
    expect(maps).toStrictEqual(['strategies', 'market.sim.assets'])
    const leaves = leavesOf(asValues(DEFAULT_CONFIGURATION))
      .map(({ path }) => path.join('.'))
      .filter((name) => !maps.some((map) => name === map || name.startsWith(`${map}.`)))
    const keys = CONFIGURATION_KEYS.map(({ path }) => path.join('.'))
    expect(leaves.toSorted()).toStrictEqual(keys.filter((name) => !maps.includes(name)).toSorted())
  })

  it('are known with their groups, and maps with their members', () => {
    expect([['api'], ['api', 'port'], ['market', 'sim', 'assets', 'X', 'beta'], []].every(isKnown)).toBe(true)
    expect([['bogus'], ['api', 'x'], ['api', 'port', 'x'], ['constructor']].some(isKnown)).toBe(false)
    expect(namesIn(['audit'])).toStrictEqual(['reads'])
    expect(namesIn(['api', 'port'])).toBeNull()
  })
})

describe('configurationJsonSchema', () => {
  it('allows any part of a configuration and no unknown key', () => {
    const schema = configurationJsonSchema()
    expect(schema).toMatchObject({
      title: 'Signal Engine configuration',
      additionalProperties: false,
      properties: {
        api: {
          additionalProperties: false,
          properties: { port: { default: 5050, minimum: 0, maximum: 65535 } },
        },
      },
    })
    expect(schema.required).toBeUndefined()
    expect(JSON.stringify(schema)).not.toContain('"required"')
  })
})

describe('warningsOf', () => {
  it('warns of short tokens, not of absent ones', () => {
    expect(warningsOf(DEFAULT_CONFIGURATION)).toStrictEqual([])
    const api = { ...DEFAULT_CONFIGURATION.api, auth_token: 'x'.repeat(31), operator_token: 'x'.repeat(32) }
    expect(warningsOf({ ...DEFAULT_CONFIGURATION, api })).toStrictEqual([
      'api.auth_token is shorter than 32 characters',
    ])
  })
})

describe('a number among the settings', () => {
  interface Node {
    readonly type?: string
    readonly properties?: Readonly<Record<string, Node>>
    readonly minimum?: number
    readonly exclusiveMinimum?: number
    readonly maximum?: number
    readonly exclusiveMaximum?: number
  }

  const numbersIn = (node: Node, path: string): readonly (readonly [string, Node])[] =>
    node.type === 'number' || node.type === 'integer'
      ? [[path, node]]
      : Object.entries(node.properties ?? {}).flatMap(([name, inner]) => numbersIn(inner, `${path}.${name}`))

  it('has a least and a greatest value, except a seed', () => {
    const schema = configurationJsonSchema() as Node
    const numbers = numbersIn(schema, '')
    expect(numbers.length).toBeGreaterThan(50)
    const isBounded = ({ minimum, exclusiveMinimum, maximum, exclusiveMaximum }: Node): boolean =>
      (minimum ?? exclusiveMinimum ?? Number.MIN_SAFE_INTEGER) > Number.MIN_SAFE_INTEGER &&
      (maximum ?? exclusiveMaximum ?? Number.MAX_SAFE_INTEGER) < Number.MAX_SAFE_INTEGER
    expect(numbers.filter(([, node]) => !isBounded(node)).map(([path]) => path)).toEqual(['.market.seed'])
  })
})
