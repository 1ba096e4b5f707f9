import { describe, expect, it } from 'vitest'
import { displayName, plainName, withoutHidden } from './text.ts'

const faultsIn = (schema: ReturnType<typeof displayName>, text: string): readonly string[] =>
  schema.safeParse(text).error?.issues.map(({ message }) => message) ?? []

describe.each([
  ['a display name', displayName(16)],
  ['a name in a hashed field', plainName(16)],
])('%s', (_, schema) => {
  it.each(['Ann', 'Zoë', '山田 太郎', 'محمد', 'a b', 'x'.repeat(16), '🚀'])('may be %s', (name) => {
    expect(schema.parse(name)).toBe(name)
  })

  it.each([
    ['\u202Enna', 'U+202E'],
    ['a\u200Bnn', 'U+200B'],
    ['ann\u2066', 'U+2066'],
    ['ann\u00AD', 'U+00AD'],
    ['a\u2028b', 'U+2028'],
    ['ann\uFE0F', 'U+FE0F'],
    ['ann\u3164', 'U+3164'],
    ['\uFEFFann', 'U+FEFF'],
    ['ann\u{E0041}', 'U+E0041'],
    ['an\u2800n', 'U+2800'],
    ['an\u0085n', 'U+0085'],
  ])('has no character that nobody sees or that turns the text: %j', (name, character) => {
    expect(faultsIn(schema, name)).toContain(
      `must not contain ${character}, which is invisible or changes the direction of text`,
    )
  })

  it.each([' Ann', 'Ann ', '\u00A0Ann', 'Ann\u3000', ' '])('has no blanks around it: %j', (name) => {
    expect(faultsIn(schema, name)).toEqual(['must not begin or end with a blank'])
  })

  it.each(['', 'x'.repeat(17), '\uD800'])('is neither empty nor too long nor broken: %j', (name) => {
    expect(schema.safeParse(name).success).toBe(false)
  })
})

it('a name in a hashed field has no bar, a display name may', () => {
  expect(faultsIn(plainName(16), 'a|b')).toEqual(['must not contain | or control characters'])
  expect(faultsIn(displayName(16), 'a|b')).toEqual([])
})

it('what a name looks like is without what nobody sees', () => {
  expect(withoutHidden('\u202Ea\u200Bb\u{E0041} c')).toBe('ab c')
})
