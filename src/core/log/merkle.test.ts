import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CT_LEAVES, CT_ROOTS, treeHash } from '../../../test/rfc6962.fixture.ts'
import { concatBytes, hexFromBytes } from './bytes.ts'
import {
  decodeFrontier,
  EMPTY_FRONTIER,
  encodeFrontier,
  extendFrontier,
  leafHash,
  leafOf,
  rootOf,
  type Sha256,
} from './merkle.ts'

const sha256: Sha256 = (bytes) => hash('sha256', bytes, 'buffer')

const leavesOf = (data: readonly Uint8Array[]): readonly Uint8Array[] =>
  data.map((item) => leafHash(item, sha256))

const someData = fc.array(fc.uint8Array({ maxLength: 8 }), { maxLength: 130 })

describe('merkle tree', () => {
  it.each(CT_ROOTS.map((root, size) => ({ size, root })))(
    'gives the known root of $size leaves',
    ({ size, root }) => {
      const frontier = extendFrontier(EMPTY_FRONTIER, leavesOf(CT_LEAVES.slice(0, size)), sha256)
      expect(hexFromBytes(rootOf(frontier, sha256))).toBe(root)
    },
  )

  it('equals the recursive definition, grown in any steps, through its encoded form', () => {
    fc.assert(
      fc.property(someData, fc.nat(130), (data, cut) => {
        const leaves = leavesOf(data)
        const first = extendFrontier(EMPTY_FRONTIER, leaves.slice(0, cut), sha256)
        const reread = decodeFrontier(first.size, encodeFrontier(first))
        expect(reread).not.toBeNull()
        const whole = extendFrontier(reread!, leaves.slice(cut), sha256)
        expect(whole.size).toBe(leaves.length)
        expect(hexFromBytes(rootOf(whole, sha256))).toBe(hexFromBytes(treeHash(data)))
      }),
    )
  })

  it('takes no frontier of another size', () => {
    const { hashes } = extendFrontier(EMPTY_FRONTIER, leavesOf(CT_LEAVES.slice(0, 7)), sha256)
    expect(hashes).toHaveLength(3)
    const bytes = encodeFrontier({ size: 7, hashes })
    expect(decodeFrontier(8, bytes)).toBeNull()
    expect(decodeFrontier(7, bytes.subarray(1))).toBeNull()
    expect(decodeFrontier(2 ** 40 + 2 ** 33 + 1, bytes)?.hashes).toHaveLength(3)
  })

  it('gives another leaf for every field that changes, is stripped or is not hex', () => {
    const fields = {
      hash: 'a0'.repeat(32),
      signature: 'b0'.repeat(64),
      publicKey: 'c0'.repeat(32),
      recordedAt: '2026-02-20T00:29:58.000Z',
    }
    const variants = [
      fields,
      { ...fields, hash: 'a1'.repeat(32) },
      { ...fields, signature: 'b1'.repeat(64) },
      { ...fields, signature: null },
      { ...fields, publicKey: null },
      { ...fields, signature: null, publicKey: null },
      { ...fields, recordedAt: '2026-02-20T00:29:58.001Z' },
      { ...fields, hash: `g${fields.hash.slice(1)}` },
      { ...fields, hash: fields.hash.toUpperCase() },
    ].map((variant) => hexFromBytes(leafOf(variant, sha256)))
    expect(new Set(variants).size).toBe(variants.length)
    const bytes = concatBytes(
      Uint8Array.of(0),
      new Uint8Array(32).fill(0xa0),
      new Uint8Array(64).fill(0xb0),
      new Uint8Array(32).fill(0xc0),
      Buffer.from(fields.recordedAt),
    )
    expect(variants[0]).toBe(hash('sha256', bytes, 'hex'))
  })
})
