import fc from 'fast-check'
import { expect, it } from 'vitest'
import { paintFor, PLAIN } from './style.ts'
import { bad, fields, good, printable, table } from './table.ts'

it('aligns names and values', () => {
  const text = fields(
    [
      ['a', 'one'],
      ['long name', good('two')],
    ],
    PLAIN,
  )
  expect(text).toBe('a          one\nlong name  two\n')
})

it('aligns columns to the widest cell, without blanks at the end of a line', () => {
  const text = table(
    [{ title: 'Name' }, { title: 'Count', align: 'right' }, { title: 'Note' }],
    [
      ['first', '7', ''],
      ['x', '1234567', 'here'],
    ],
    PLAIN,
  )
  expect(text).toBe('Name     Count  Note\nfirst        7\nx      1234567  here\n')
})

it('shows a missing cell as nothing', () => {
  expect(table([{ title: 'A' }, { title: 'B' }], [['1']], PLAIN)).toBe('A  B\n1\n')
})

it('counts characters as people see them', () => {
  const [first, second] = fields(
    [
      ['👩‍👩‍👧', '1'],
      ['é', '2'],
    ],
    PLAIN,
  ).split('\n')
  expect(first).toBe('👩‍👩‍👧  1')
  expect(second).toBe('é  2')
})

it('paints only for a person who wants colour', () => {
  const red = paintFor({ isTTY: true }, {})
  expect(fields([['a', bad('no')]], red)).toContain('\u001b[31mno\u001b[0m')
  expect(paintFor({ isTTY: false }, {})('bad', 'no')).toBe('no')
  expect(paintFor({ isTTY: true }, { NO_COLOR: '1' })('bad', 'no')).toBe('no')
  expect(paintFor({ isTTY: true }, { NO_COLOR: '' })('bad', 'no')).not.toBe('no')
  expect(paintFor({ isTTY: true }, { TERM: 'dumb' })('bad', 'no')).toBe('no')
})

it('lets no text move the cursor, change colours or turn the reading direction', () => {
  expect(printable('a\u001b[2Jb\n\u202e\u009b')).toBe('a\\u001b[2Jb\\u000a\\u202e\\u009b')
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0x20ff })), (codes) => {
      const text = String.fromCharCode(...codes)
      // oxlint-disable-next-line no-control-regex -- control characters are exactly what this looks for
      expect(printable(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
      const [line, rest] = fields([['name', text]], PLAIN).split('\n')
      expect(line).toBe(`name  ${printable(text)}`)
      expect(rest).toBe('')
    }),
  )
})
