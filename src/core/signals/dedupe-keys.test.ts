import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formerKey, scopedKey } from './dedupe-keys.ts'

const text = () => fc.string({ unit: fc.constantFrom('a', 'b', '1', '2', ':'), minLength: 1, maxLength: 6 })

describe('the key of a signal within a name', () => {
  it('is that of no other name', () => {
    fc.assert(
      fc.property(text(), text(), text(), text(), (name, key, otherName, otherKey) => {
        fc.pre(name !== otherName || key !== otherKey)
        expect(scopedKey('emit', name, key)).not.toBe(scopedKey('emit', otherName, otherKey))
      }),
    )
  })

  it('stays what it was where the name has no colon, and says what it was where it has one', () => {
    fc.assert(
      fc.property(text(), text(), (name, key) => {
        const before = `poll:${name}:${key}`
        const now = scopedKey('poll', name, key)
        expect(name.includes(':') ? formerKey(now) : now).toBe(before)
        if (!name.includes(':')) expect(formerKey(now)).toBeNull()
      }),
    )
  })
})
