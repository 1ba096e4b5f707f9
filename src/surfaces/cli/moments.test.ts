import { InvalidArgumentError } from 'commander'
import { expect, it } from 'vitest'
import { parseFrom, parseTo } from './moments.ts'

it('takes a day as all of it', () => {
  expect(parseFrom('2026-02-20')).toBe('2026-02-20T00:00:00.000Z')
  expect(parseTo('2026-02-20')).toBe('2026-02-20T23:59:59.999Z')
})

it.each([
  ['2026-02-20T02:29:58+02:00', '2026-02-20T00:29:58.000Z'],
  ['2026-02-20 02:29:58-0130', '2026-02-20T03:59:58.000Z'],
  ['2026-02-20t00:29', '2026-02-20T00:29:00.000Z'],
  ['2026-02-20T00:29:58.1239z', '2026-02-20T00:29:58.123Z'],
])('takes %s as one moment', (text, moment) => {
  expect(parseFrom(text)).toBe(moment)
  expect(parseTo(text)).toBe(moment)
})

it.each([
  '',
  'today',
  '2026-02-30',
  '2026-13-01',
  '1969-12-31',
  '2026-02-20T24:00',
  '2026-02-20T00:00:60Z',
  '2026-02-20T00',
  '9999-12-31T23:59:59-01:00',
  ' 2026-02-20',
])('refuses %j', (text) => {
  expect(() => parseFrom(text)).toThrow(InvalidArgumentError)
})
