import { InvalidArgumentError } from 'commander'
import { describe, expect, it } from 'vitest'
import { completeId, parseFrom, parseTo } from './arguments.ts'

describe('dates and times', () => {
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
})

describe('the beginning of an id', () => {
  const known = ['aaaa-1111', 'aaaa-2222', 'bbbb-1111']

  it('stands for the only id that has it', () => {
    expect(completeId('bbbb', known)).toBe('bbbb-1111')
    expect(completeId('aaaa-1', known)).toBe('aaaa-1111')
    expect(completeId('aaaa-1111', [...known, 'aaaa-11112'])).toBe('aaaa-1111')
  })

  it('stays as it is where no id has it, or it is too short', () => {
    expect(completeId('cccc', known)).toBe('cccc')
    expect(completeId('bbb', known)).toBe('bbb')
  })

  it('is refused where several ids have it', () => {
    expect(() => completeId('aaaa', known)).toThrow('2 ids begin with aaaa: type more of it')
  })
})
