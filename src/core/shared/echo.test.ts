import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ECHO_LENGTH_MAX, echoed, echoedJson } from './echo.ts'

describe('text from outside in an error', () => {
  it('is one line without control characters', () => {
    expect(echoed('a\nb\r\nc\td\u007fe\u001b[31mf\u2028g\u202Eh\u0000')).toBe('a b c d e [31mf g h ')
    expect(echoed('Größe 🚀 "x"')).toBe('Größe 🚀 "x"')
    expect(echoed('\uD800x')).toBe(' x')
  })

  it('is cut', () => {
    expect(echoed('x'.repeat(200))).toBe('x'.repeat(200))
    expect(echoed('x'.repeat(201))).toBe(`${'x'.repeat(199)}…`)
    expect(echoed('🚀'.repeat(200)).isWellFormed()).toBe(true)
    expect(echoed('\n'.repeat(1_000_000)).length).toBeLessThan(10)
  })

  it('holds for every text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 1000 }), (text) => {
        const shown = echoed(text)
        expect(shown.length).toBeLessThanOrEqual(ECHO_LENGTH_MAX)
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
      }),
    )
  })

  it('is meant for every text inside an object', () => {
    const long = 'x'.repeat(300)
    expect(echoedJson({ a: ['b\nc', 1, null, { [`k\n${long}`]: long }] })).toEqual({
      a: ['b c', 1, null, { [`k ${'x'.repeat(197)}…`]: `${'x'.repeat(199)}…` }],
    })
  })
})
