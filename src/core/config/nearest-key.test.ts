import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nearest } from '../shared/nearest.ts'
import { CONFIGURATION_KEYS, hintFor, namesIn } from './keys.ts'

describe('hintFor', () => {
  it.each([
    [['api', 'auth_tokn'], '; did you mean "auth_token"?'],
    [['api', 'auth_token '], '; did you mean "auth_token"?'],
    [['api', 'Auth_Token'], '; did you mean "auth_token"?'],
    [['weigths'], '; did you mean "weights"?'],
    [['cycle_interval_seconds'], '; did you mean "brain.cycle_interval_seconds"?'],
    [['api', 'bogus'], ''],
    [['bogus'], ''],
    [['api', 'port', 'deep'], ''],
    [['x'.repeat(100)], ''],
  ])('%j%s', (path, hint) => {
    expect(hintFor(path)).toBe(hint)
  })

  it('finds every key again after one typing mistake, unless the mistake makes another near name', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...CONFIGURATION_KEYS.filter((key) => (key.path.at(-1) ?? '').length >= 6)),
        fc.nat({ max: 5 }),
        ({ path }, position) => {
          const right = path.at(-1) ?? ''
          const wrong = right.slice(0, position) + right.slice(position + 1)
          const siblings = namesIn(path.slice(0, -1)) ?? []
          const found = nearest(wrong, siblings)
          expect(siblings).toContain(found)
        },
      ),
    )
  })
})

describe('nearest', () => {
  it('counts swapped neighbours as one mistake and prefers the fewest', () => {
    expect(nearest('prot', ['port', 'host'])).toBe('port')
    expect(nearest('levle', ['lever', 'level'])).toBe('level')
    expect(nearest('abc', [])).toBeNull()
  })
})
