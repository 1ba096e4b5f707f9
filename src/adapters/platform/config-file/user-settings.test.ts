import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { JsonObject } from '../../../core/shared/json.ts'
import { userSettingsText } from './user-settings.ts'

describe('userSettingsText', () => {
  it('begins a new file with what it is', () => {
    expect(userSettingsText(null, { api: { auth_token: 'abc', port: 5 } })).toBe(
      `# Settings of this installation: what differs from config/default.yaml and the preset.
# Secrets may be among them, so only the owner can read this file.
api:
  auth_token: abc
  port: 5
`,
    )
    expect(parse(userSettingsText(null, {}))).toBeNull()
  })

  it('keeps what people wrote: comments, order, the style of values', () => {
    const text = `# my node
market:
  feed: simulated # only for now
api:
  # from the password manager
  auth_token: "abc"
  port: 6000
brain: { min_domains: 2 }
# the end
`
    expect(
      userSettingsText(text, {
        api: { auth_token: 'new', port: 7000 },
        market: { feed: 'none' },
        execution: { dcg_symbols: ['A', 'B'] },
      }),
    ).toBe(`# my node
market:
  feed: none # only for now
api:
  # from the password manager
  auth_token: "new"
  port: 7000
execution:
  dcg_symbols:
    - A
    - B

# the end
`)
  })

  it.each([
    ['aliases', 'a: &x [1, 2]\nb: *x\n', { a: [1], b: [1, 2] }],
    ['nothing', '', { a: 1 }],
    ['only comments', '# mine\n', { a: { b: 1 } }],
    ['a null group', 'a:\n', { a: { b: 1 } }],
    ['a value where a group comes', 'a: 5\n', { a: { b: { c: [] } } }],
    ['a group where a value comes', 'a:\n  b: 1\n', { a: 5 }],
    ['everything taken away', 'a:\n  b: 1\n', {}],
  ])('writes over %s', (_, text, values) => {
    expect(parse(userSettingsText(text, values)) ?? {}).toStrictEqual(values)
  })

  it('keeps a comment in a file without keys', () => {
    expect(userSettingsText('# mine\n', { a: 1 })).toContain('# mine')
  })

  it('says exactly the values, whatever the file said', () => {
    const value = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(
        'yes',
        '1',
        '0x1',
        '~',
        '',
        ' a',
        '# no',
        'a: b',
        '1e3',
        'null',
        '- x',
        '\n',
        '***REDACTED***',
      ),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
      fc.boolean(),
      fc.array(fc.string(), { maxLength: 3 }),
    )
    const name = fc.constantFrom('a', 'b', 'c', 'auth_token')
    const values = fc.dictionary(
      name,
      fc.oneof(value, fc.dictionary(name, value, { minKeys: 1 })),
    ) as fc.Arbitrary<JsonObject>
    fc.assert(
      fc.property(values, values, (before, after) => {
        const text = userSettingsText(userSettingsText(null, before), after)
        expect(parse(text) ?? {}).toEqual({ ...after })
      }),
    )
  })
})
