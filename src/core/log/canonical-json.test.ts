import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../shared/json.ts'
import { CANONICAL_DEPTH_MAX, canonicalJson, NotCanonicalError } from './canonical-json.ts'

const faultOf = (value: unknown): string => {
  try {
    canonicalJson(value as Json)
  } catch (error) {
    if (error instanceof NotCanonicalError) return error.fault
    throw error
  }
  return 'none'
}

describe('RFC 8785', () => {
  it('holds for the vector of the contract', () => {
    const text =
      '{"\\ud83d\\ude00":1,"\\uff21":2,"b":[7.0,1e21,1e-7,0.000001,-0,1e20,0.1],"a":"\\u20ac\\n\\u0007\\"\\\\/","10":true,"9":null}'
    const canonical = canonicalJson(JSON.parse(text) as Json)
    expect(canonical).toBe(
      '{"10":true,"9":null,"a":"€\\n\\u0007\\"\\\\/","b":[7,1e+21,1e-7,0.000001,0,100000000000000000000,0.1],"😀":1,"Ａ":2}',
    )
    expect(hash('sha256', canonical, 'hex')).toBe(
      '3010fc0342c2687a7c27704da3899f013b6013b5b1ccb669d4b13d51123d77f6',
    )
  })

  it('sorts the members of the RFC example by UTF-16 code units', () => {
    const value = {
      '€': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew',
      '1': 'One',
      '😀': 'Emoji',
      '\u0080': 'Control',
      ö: 'O',
    }
    expect(canonicalJson(value)).toBe(
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"O","€":"Euro Sign","😀":"Emoji","\ufb33":"Hebrew"}',
    )
  })

  it.each([
    [0x0000000000000001n, '5e-324'],
    [0x7fefffffffffffffn, '1.7976931348623157e+308'],
    [0x4340000000000000n, '9007199254740992'],
    [0x4430000000000000n, '295147905179352830000'],
    [0x44b52d02c7e14af5n, '9.999999999999997e+22'],
    [0x444b1ae4d6e2ef50n, '1e+21'],
    [0x3eb0c6f7a0b5ed8dn, '0.000001'],
    [0x41b3de4355555553n, '333333333.3333332'],
    [0x8000000000000000n, '0'],
  ])('writes the double %s as %s', (bits, text) => {
    const view = new DataView(new ArrayBuffer(8))
    view.setBigUint64(0, bits)
    expect(canonicalJson([view.getFloat64(0)])).toBe(`[${text}]`)
  })

  it('writes the same bytes as the reference library, sorted or not', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const canonical = canonicalJson(value as Json)
        expect(canonical).toBe(canonicalize(value))
        // A second pass takes the fast path and changes nothing.
        expect(canonicalJson(JSON.parse(canonical) as Json)).toBe(canonical)
      }),
    )
  })

  it('keeps a member named __proto__', () => {
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"x":1}}') as Json)).toBe(
      '{"__proto__":{"x":1},"b":1}',
    )
  })
})

describe('what has no single text is rejected, not repaired', () => {
  const deep = (levels: number): Json => (levels === 0 ? 0 : [deep(levels - 1)])
  it.each([
    ['a lone surrogate', { a: '\ud800' }, 'unicode_invalid'],
    ['a lone surrogate in a name', { '\udc00': 1 }, 'unicode_invalid'],
    ['NaN', [Number.NaN], 'number_not_finite'],
    ['infinity', { a: Number.POSITIVE_INFINITY }, 'number_not_finite'],
    ['undefined', { a: undefined }, 'not_json'],
    ['a function', { a: () => 1 }, 'not_json'],
    ['a bigint', { a: 1n }, 'not_json'],
    ['a date', { a: new Date(0) }, 'not_json'],
    ['toJSON', { a: { toJSON: () => 1 } }, 'not_json'],
    ['a map', new Map(), 'not_json'],
    ['nesting beyond the limit', deep(CANONICAL_DEPTH_MAX + 2), 'too_deep'],
  ])('%s', (_, value, fault) => {
    expect(faultOf(value)).toBe(fault)
    expect(faultOf({ z: 1, a: value })).toBe(fault)
  })

  it('nesting up to the limit is fine', () => {
    expect(faultOf(deep(CANONICAL_DEPTH_MAX))).toBe('none')
  })
})
