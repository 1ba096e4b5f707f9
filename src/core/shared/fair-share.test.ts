import { describe, expect, it } from 'vitest'
import { boundReached, isOwnOrAny } from './fair-share.ts'

const key = (name: string) => ({ owner: `key:${name}:0123456789abcdef`, isOperator: false })
const TOKEN = { owner: 'token', isOperator: false }
const times = (count: number, { owner }: { readonly owner: string }) =>
  Array.from({ length: count }, () => owner)

describe('a share of places', () => {
  it('of a key is a quarter, and of all keys together half', () => {
    expect(boundReached(20, times(4, key('a')), key('a'))).toBeNull()
    expect(boundReached(20, times(5, key('a')), key('a'))).toBe(5)
    expect(boundReached(20, times(5, key('a')), key('b'))).toBeNull()
    expect(boundReached(20, [...times(5, key('a')), ...times(5, key('b'))], key('c'))).toBe(10)
  })

  it('leaves the rest to tokens and operators, whatever keys hold', () => {
    const keys = [...times(5, key('a')), ...times(5, key('b'))]
    expect(boundReached(20, keys, TOKEN)).toBeNull()
    expect(boundReached(20, keys, { ...key('a'), isOperator: true })).toBeNull()
    expect(boundReached(20, [...keys, ...times(10, TOKEN)], TOKEN)).toBe(20)
  })

  it('is one place at least', () => {
    expect(boundReached(1, [], key('a'))).toBeNull()
    expect(boundReached(1, times(1, key('a')), TOKEN)).toBe(1)
  })
})

describe('what somebody made', () => {
  it('is open to its owner and to operators', () => {
    expect(isOwnOrAny(key('a'), key('a').owner)).toBe(true)
    expect(isOwnOrAny(key('a'), 'token')).toBe(false)
    expect(isOwnOrAny(TOKEN, key('a').owner)).toBe(false)
    expect(isOwnOrAny({ ...key('a'), isOperator: true }, 'token')).toBe(true)
  })
})
