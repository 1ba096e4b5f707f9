import type { Sha256Hex } from '../../../core/log/hash-chain.ts'
import { assert } from '../../../core/shared/assert.ts'

/** A stream of pseudorandom numbers: the same for the same name, on every machine. */
export interface Draws {
  /** A whole number below 2^32. */
  next(): number
  /** From 0, below 1. */
  uniform(): number
  /** About normal: the sum of twelve uniform draws minus six, which is exact on every machine. */
  normal(): number
}

/** `xoshiro128**`, seeded by the first four big-endian words of SHA-256(`<seed>|<segment>|<stream>`). */
export const createDraws = (seed: number, segment: number, stream: string, sha256Hex: Sha256Hex): Draws => {
  const digest = sha256Hex(`${seed}|${segment}|${stream}`)
  assert(/^[0-9a-f]{64}$/.test(digest), 'a SHA-256 digest has 64 hex digits')
  let a = wordOf(digest, 0)
  let b = wordOf(digest, 1)
  let c = wordOf(digest, 2)
  let d = wordOf(digest, 3)

  const next = (): number => {
    const result = scrambled(b)
    const shifted = b << 9
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = (d << 11) | (d >>> 21)
    return result
  }

  const normal = (): number => {
    // State in local variables: this loop is most of the simulation's work.
    let p = a
    let q = b
    let r = c
    let s = d
    let sum = 0
    for (let draw = 0; draw < 12; draw += 1) {
      sum += scrambled(q) / WORDS
      const shifted = q << 9
      r ^= p
      s ^= q
      q ^= r
      p ^= s
      r ^= shifted
      s = (s << 11) | (s >>> 21)
    }
    a = p
    b = q
    c = r
    d = s
    return sum - 6
  }

  return { next, uniform: () => next() / WORDS, normal }
}

const WORDS = 2 ** 32

const wordOf = (digest: string, index: number): number =>
  Number.parseInt(digest.slice(index * 8, index * 8 + 8), 16) | 0

const scrambled = (word: number): number => {
  const times5 = Math.imul(word, 5)
  return Math.imul((times5 << 7) | (times5 >>> 25), 9) >>> 0
}
