import { createHash } from 'node:crypto'

/**
 * RFC 6962 section 2.1, word for word and as slow as it is written there. Nothing of it is shared with the code under
 * test: not the hash function, not the helpers for bytes.
 */
export type Data = readonly Uint8Array[]

const sha256 = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** The largest power of two smaller than n. */
const k = (n: number): number => {
  let power = 1
  while (power * 2 < n) power *= 2
  return power
}

/** MTH(D[n]). */
export const treeHash = (data: Data): Buffer => {
  const [first] = data
  if (first === undefined) return sha256()
  if (data.length === 1) return sha256(Buffer.of(0), first)
  const split = k(data.length)
  return sha256(Buffer.of(1), treeHash(data.slice(0, split)), treeHash(data.slice(split)))
}

/** PATH(m, D[n]). */
export const auditPath = (m: number, data: Data): readonly Buffer[] => {
  if (data.length === 1) return []
  const split = k(data.length)
  return m < split
    ? [...auditPath(m, data.slice(0, split)), treeHash(data.slice(split))]
    : [...auditPath(m - split, data.slice(split)), treeHash(data.slice(0, split))]
}

/** PROOF(m, D[n]). */
export const consistencyProof = (m: number, data: Data): readonly Buffer[] => subProof(m, data, true)

const subProof = (m: number, data: Data, isWhole: boolean): readonly Buffer[] => {
  if (m === data.length) return isWhole ? [] : [treeHash(data)]
  const split = k(data.length)
  return m <= split
    ? [...subProof(m, data.slice(0, split), isWhole), treeHash(data.slice(split))]
    : [...subProof(m - split, data.slice(split), false), treeHash(data.slice(0, split))]
}

/** Leaves, roots and proofs of the certificate-transparency reference implementation. */
export const CT_LEAVES: Data = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
].map((hex) => Buffer.from(hex, 'hex'))

/** By size. */
export const CT_ROOTS: readonly string[] = [
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

const A = '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7'
const B = '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e'
const C = '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4'
const D = 'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b'
const E = 'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0'
const F = '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a'
const [, ONE = '', TWO = '', , FOUR = ''] = CT_ROOTS

/** `index` counts from 0. */
export const CT_PATHS = [
  { index: 0, size: 1, path: [] },
  { index: 0, size: 8, path: [A, B, C] },
  { index: 5, size: 8, path: [D, E, FOUR] },
  { index: 2, size: 3, path: [TWO] },
  { index: 1, size: 5, path: [ONE, B, D] },
] as const

export const CT_CONSISTENCY = [
  { oldSize: 1, newSize: 1, path: [] },
  { oldSize: 1, newSize: 8, path: [A, B, C] },
  { oldSize: 6, newSize: 8, path: [F, E, FOUR] },
  { oldSize: 2, newSize: 5, path: [B, D] },
] as const
