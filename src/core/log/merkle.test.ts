import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesFromHex, concatBytes, hexFromBytes } from './bytes.ts'
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

/** Leaves and roots of the certificate-transparency reference implementation. */
const CT_LEAVES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
].map((hex) => bytesFromHex(hex)!)
const CT_ROOTS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]

const leavesOf = (data: readonly Uint8Array[]): readonly Uint8Array[] =>
  data.map((item) => leafHash(item, sha256))

/** RFC 6962 section 2.1, word for word. */
const treeHash = (leaves: readonly Uint8Array[]): Uint8Array => {
  if (leaves.length === 0) return sha256(new Uint8Array())
  if (leaves.length === 1) return leaves[0]!
  let split = 1
  while (split * 2 < leaves.length) split *= 2
  return sha256(
    concatBytes(Uint8Array.of(1), treeHash(leaves.slice(0, split)), treeHash(leaves.slice(split))),
  )
}

const someLeaves = fc
  .array(fc.uint8Array({ maxLength: 8 }), { maxLength: 130 })
  .map((data) => [...leavesOf(data)])

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
      fc.property(someLeaves, fc.nat(130), (leaves, cut) => {
        const first = extendFrontier(EMPTY_FRONTIER, leaves.slice(0, cut), sha256)
        const reread = decodeFrontier(first.size, encodeFrontier(first))
        expect(reread).not.toBeNull()
        const whole = extendFrontier(reread!, leaves.slice(cut), sha256)
        expect(whole.size).toBe(leaves.length)
        expect(hexFromBytes(rootOf(whole, sha256))).toBe(hexFromBytes(treeHash(leaves)))
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
