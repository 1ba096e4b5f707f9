import fc from 'fast-check'
import { expect, it } from 'vitest'
import { numberIn, splitCsv, timeIn } from './cells.ts'

it.each([
  ['1', 1],
  [' -2.50 ', -2.5],
  ['1e-8', 1e-8],
  ['.5', 0.5],
  ['', null],
  ['NaN', null],
  ['null', null],
  ['1,000', Number.NaN],
  ['0x10', Number.NaN],
  ['Infinity', Number.NaN],
  ['1 2', Number.NaN],
])('%j is the number %s', (cell, value) => {
  expect(numberIn(cell)).toBe(value)
})

it.each([
  ['1706745600', 1_706_745_600_000],
  ['1706745600000', 1_706_745_600_000],
  ['1706745600000000', 1_706_745_600_000],
  ['1706745600.5', 1_706_745_600_500],
  ['1.7067456e12', 1_706_745_600_000],
  ['2024-02-01T00:00:00Z', 1_706_745_600_000],
  ['2024-02-01 00:00', 1_706_745_600_000],
  ['1706745600000000000', null],
  ['-1', null],
  ['1706745600000.5', null],
  ['', null],
  ['today', null],
])('%j is the time %s', (cell, ms) => {
  expect(timeIn(cell)).toBe(ms)
})

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

it.each(['"a', 'a,"b', '"a""', '"a"b,c'])('%j has an unclosed quote', (line) => {
  expect(splitCsv(line)).toBeNull()
})

it('returns quoted fields unchanged', () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1 }), (fields) => {
      const line = fields.map((field) => `"${field.replaceAll('"', '""')}"`).join(',')
      expect(splitCsv(line)).toEqual(fields)
    }),
  )
})
