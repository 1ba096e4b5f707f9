import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  age,
  bad,
  fields,
  good,
  left,
  plainNumber,
  price,
  printable,
  right,
  shortIds,
  shrinking,
  table,
} from './table.ts'
import { styleFor, PLAIN } from './terminal.ts'

it('aligns names and values', () => {
  const text = fields([
    ['a', 'one'],
    ['long name', good('two')],
  ])(PLAIN)
  expect(text).toBe('a          one\nlong name  two\n')
})

it('aligns columns to the widest cell, without blanks at the end of a line', () => {
  const text = table(
    [
      ['first', '7', ''],
      ['x', '1234567', 'here'],
    ],
    [
      left('Name', ([name]) => name ?? ''),
      right('Count', ([, count]) => count ?? ''),
      left('Note', ([, , note]) => note ?? ''),
    ],
  )(PLAIN)
  expect(text).toBe('Name     Count  Note\nfirst        7\nx      1234567  here\n')
})

it('shows an empty cell as nothing, and a row without a value not at all', () => {
  expect(table([1], [right('A', (number) => number), left('B', () => '')])(PLAIN)).toBe('A  B\n1\n')
  expect(
    fields([
      ['a', 1],
      ['long name', null],
    ])(PLAIN),
  ).toBe('a  1\n')
})

it('says that there is nothing instead of a heading alone', () => {
  expect(table([], [left('A', () => '')], 'Nothing yet.')(PLAIN)).toBe('Nothing yet.\n')
  expect(table([], [left('A', () => '')])(PLAIN)).toBe('A\n')
})

it('counts characters as people see them', () => {
  const [first, second] = fields([
    ['👩‍👩‍👧', '1'],
    ['é', '2'],
  ])(PLAIN).split('\n')
  expect(first).toBe('👩‍👩‍👧  1')
  expect(second).toBe('é  2')
})

it('paints only for a person who wants colour', () => {
  const red = styleFor({ isTTY: true }, {})
  expect(fields([['a', bad('no')]])(red)).toContain('\u001b[31mno\u001b[0m')
  expect(styleFor({ isTTY: false }, {}).paint('bad', 'no')).toBe('no')
  expect(styleFor({ isTTY: true }, { NO_COLOR: '1' }).paint('bad', 'no')).toBe('no')
  expect(styleFor({ isTTY: true }, { NO_COLOR: '' }).paint('bad', 'no')).not.toBe('no')
  expect(styleFor({ isTTY: true }, { TERM: 'dumb' }).paint('bad', 'no')).toBe('no')
})

it('lets no text move the cursor, change colours or turn the reading direction', () => {
  expect(printable('a\u001b[2Jb\n\u202e\u009b')).toBe('a\\u001b[2Jb\\u000a\\u202e\\u009b')
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0x20ff })), (codes) => {
      const text = String.fromCharCode(...codes)
      // oxlint-disable-next-line no-control-regex -- control characters are exactly what this looks for
      expect(printable(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
      const [line, rest] = fields([['name', text]])({ ...PLAIN, width: 10_000 }).split('\n')
      expect(line).toBe(`name  ${printable(text)}`)
      expect(rest).toBe('')
    }),
  )
})

it('cuts columns that may shrink until the table fits', () => {
  const text = table(
    [{ id: '12345678', why: 'because of this', who: 'ann' }],
    [left('Id', ({ id }) => id), shrinking('Why', ({ why }) => why), shrinking('Who', ({ who }) => who)],
  )({ ...PLAIN, width: 24 })
  expect(text).toBe('Id        Why        Who\n12345678  because …  ann\n')
})

it('continues long values below, without breaking words', () => {
  expect(fields([['Name', 'one two three four']])({ ...PLAIN, width: 16 })).toBe(
    'Name  one two\n      three four\n',
  )
  expect(fields([['Name', 'a-very-long-word']])({ ...PLAIN, width: 10 })).toBe('Name\n    a-very-long-word\n')
})

it('shortens ids as far as they can be told apart', () => {
  const short = shortIds(['aaaaaaaa-1', 'aaaaaaaa-2', 'bbbbbbbb-1'])
  expect(short('aaaaaaaa-1')).toBe('aaaaaaaa-1')
  expect(shortIds(['aaaaaaaa-1', 'bbbbbbbb-1'])('aaaaaaaa-1')).toBe('aaaaaaaa')
  expect(shortIds(['same', 'same'])('same')).toBe('same')
})

it.each([
  [0.4, '0s'],
  [59, '59s'],
  [60, '1m'],
  [3599, '59m'],
  [3600, '1h'],
  [47 * 3600, '47h'],
  [48 * 3600, '2d'],
  [-300, 'in 5m'],
])('says how long ago %d seconds are', (seconds, expected) => {
  const nowMs = Date.parse('2026-02-20T12:00:00.000Z')
  expect(age(new Date(nowMs - seconds * 1000).toISOString(), nowMs)).toBe(expected)
})

it.each([
  [60_012.3412, '60012.34'],
  [999.123456, '999.123'],
  [0.000012345678, '0.0000123457'],
  [1e-8, '0.00000001'],
])('writes the price %d for people', (value, expected) => {
  expect(price(value)).toBe(expected)
  expect(plainNumber(-0.5)).toBe('-0.5')
})
