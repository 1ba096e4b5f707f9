import fc from 'fast-check'
import { expect, it } from 'vitest'
import { splitCsv } from './csv.ts'

it.each([
  ['a,b,c', ['a', 'b', 'c']],
  ['', ['']],
  [',', ['', '']],
  ['"a,b",c', ['a,b', 'c']],
  ['"a ""b""",c', ['a "b"', 'c']],
  [' "a" ,b', ['a', 'b']],
  ['a,"",', ['a', '', '']],
  ['a "b",c', ['a "b"', 'c']],
])('%j has the fields %j', (line, fields) => {
  expect(splitCsv(line)).toEqual(fields)
})

it.each(['"a', 'a,"b', '"a""', '"a"b,c'])('%j has no end', (line) => {
  expect(splitCsv(line)).toBeNull()
})

it('gives back what was quoted', () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1 }), (fields) => {
      const line = fields.map((field) => `"${field.replaceAll('"', '""')}"`).join(',')
      expect(splitCsv(line)).toEqual(fields)
    }),
  )
})
