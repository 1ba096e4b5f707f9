import fc from 'fast-check'
import { expect, it } from 'vitest'
import { base64FromBytes, bytesFromBase64, bytesFromHex, hexFromBytes, sameBytes } from './bytes.ts'

it('writes and reads hex and base64 as Node does', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
      expect(hexFromBytes(bytes)).toBe(Buffer.from(bytes).toString('hex'))
      expect(base64FromBytes(bytes)).toBe(Buffer.from(bytes).toString('base64'))
      expect(sameBytes(bytesFromHex(hexFromBytes(bytes))!, bytes)).toBe(true)
      expect(sameBytes(bytesFromBase64(base64FromBytes(bytes))!, bytes)).toBe(true)
    }),
  )
})

it.each(['0', 'AB', 'zz', '0g', ' 0', '0x'])('refuses %j as hex', (text) => {
  expect(bytesFromHex(text)).toBeNull()
})

it.each(['A', 'AA', 'AAA', 'AB==', 'AAB=', 'AA==\n', 'A A=', '_-==', '====', 'AA=A'])(
  'refuses %j as base64',
  (text) => {
    expect(bytesFromBase64(text)).toBeNull()
  },
)
