import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeHeaderText } from './protocol.ts'

it('reads back what was wrapped', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(decodeHeaderText(`=?base64?${Buffer.from(text).toString('base64')}?=`)).toBe(text)
    }),
  )
})

it('leaves alone what was not', () => {
  for (const header of ['get_brain_status', '=?base64?', 'base64', '=?utf-8?YQ==?=']) {
    expect(decodeHeaderText(header)).toBe(header)
  }
})

it('does not read what has another spelling, or is no text', () => {
  for (const base64 of ['YQ', 'YR==', '/w==']) expect(decodeHeaderText(`=?base64?${base64}?=`)).toBeNull()
})
