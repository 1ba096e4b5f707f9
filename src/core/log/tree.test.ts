import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  auditPath,
  consistencyProof,
  CT_CONSISTENCY,
  CT_LEAVES,
  CT_PATHS,
  CT_ROOTS,
  treeHash,
  type Data,
} from '../../../test/rfc6962.fixture.ts'
import { bytesFromHex, hexFromBytes } from './bytes.ts'
import { leafHash, rootOf, type Sha256 } from './merkle.ts'
import {
  completedNodes,
  consistencyPath,
  frontierAt,
  frontierPath,
  inclusionPath,
  isConsistent,
  nodesFor,
  perfectRoot,
  rootFromInclusion,
  subtreeHash,
  TILE_WIDTH,
  type NodeAt,
  type Subtree,
} from './tree.ts'

const sha256: Sha256 = (bytes) => hash('sha256', bytes, 'buffer')

const dataOf = (size: number): Data =>
  Array.from({ length: size }, (_, index) => Buffer.from(hash('sha256', `event ${index}`, 'hex'), 'hex'))

/** The nodes that a store keeps for these leaves. */
const storedTree = (data: Data): ReadonlyMap<string, Uint8Array> => {
  const nodes = new Map(data.map((item, index) => [`0/${index}`, leafHash(item, sha256)]))
  for (const { level, index } of completedNodes(0, data.length)) {
    const children = Array.from({ length: TILE_WIDTH }, (_, at) =>
      nodes.get(`${level - 1}/${index * TILE_WIDTH + at}`),
    )
    nodes.set(`${level}/${index}`, perfectRoot(children as Uint8Array[], sha256))
  }
  return nodes
}

/** Returns only the nodes that `nodesFor` requests. */
const readerFor = (nodes: ReadonlyMap<string, Uint8Array>, subtrees: readonly Subtree[]): NodeAt => {
  const ranges = nodesFor(subtrees)
  return ({ level, index }) =>
    ranges.some((range) => range.level === level && index >= range.from && index < range.to)
      ? nodes.get(`${level}/${index}`)
      : undefined
}

const hashesOf = (
  nodes: ReadonlyMap<string, Uint8Array>,
  subtrees: readonly Subtree[],
): readonly Uint8Array[] =>
  subtrees.map((subtree) => subtreeHash(subtree, readerFor(nodes, subtrees), sha256)!)

const hexOf = (hashes: readonly Uint8Array[]): readonly string[] => hashes.map(hexFromBytes)

describe('proofs of the reference implementation', () => {
  const nodes = storedTree(CT_LEAVES)
  const bytesOf = (path: readonly string[]): readonly Uint8Array[] => path.map((hex) => bytesFromHex(hex)!)

  it.each(CT_PATHS)('inclusion of leaf $index in $size', ({ index, size, path }) => {
    expect(hexOf(auditPath(index, CT_LEAVES.slice(0, size)))).toEqual(path)
    expect(hexOf(hashesOf(nodes, inclusionPath(index, size)))).toEqual(path)
    const leaf = leafHash(CT_LEAVES[index]!, sha256)
    const root = rootFromInclusion({ leaf, index, size, path: bytesOf(path) }, sha256)
    expect(hexFromBytes(root!)).toBe(CT_ROOTS[size])
  })

  it.each(CT_CONSISTENCY)('consistency of $oldSize with $newSize', ({ oldSize, newSize, path }) => {
    expect(hexOf(consistencyProof(oldSize, CT_LEAVES.slice(0, newSize)))).toEqual(path)
    expect(hexOf(hashesOf(nodes, consistencyPath(oldSize, newSize)))).toEqual(path)
    const [oldRoot, newRoot] = bytesOf([CT_ROOTS[oldSize]!, CT_ROOTS[newSize]!])
    expect(
      isConsistent({ oldSize, oldRoot: oldRoot!, newSize, newRoot: newRoot!, path: bytesOf(path) }, sha256),
    ).toBe(true)
  })
})

describe('proofs from stored nodes', () => {
  const data = dataOf(1500)
  const nodes = storedTree(data)
  const roots = new Map<number, Uint8Array>()
  const rootAt = (size: number): Uint8Array => {
    const root = roots.get(size) ?? treeHash(data.slice(0, size))
    roots.set(size, root)
    return root
  }
  const size = fc.oneof(
    fc.integer({ min: 1, max: data.length }),
    // Around whole tiles.
    fc.constantFrom(1, 2, 255, 256, 257, 511, 512, 513, 768, 1023, 1024, 1025, 1280),
  )

  it('of inclusion are those of the RFC, and lead to the root', () => {
    fc.assert(
      fc.property(size, fc.nat(), (treeSize, seed) => {
        const index = seed % treeSize
        const path = hashesOf(nodes, inclusionPath(index, treeSize))
        expect(hexOf(path)).toEqual(hexOf(auditPath(index, data.slice(0, treeSize))))
        const leaf = leafHash(data[index]!, sha256)
        const root = rootFromInclusion({ leaf, index, size: treeSize, path }, sha256)
        expect(hexFromBytes(root!)).toBe(hexFromBytes(rootAt(treeSize)))
      }),
      { numRuns: 40 },
    )
  })

  it('of consistency are those of the RFC, and hold', () => {
    fc.assert(
      fc.property(size, size, (one, other) => {
        const [oldSize, newSize] = [Math.min(one, other), Math.max(one, other)]
        const path = hashesOf(nodes, consistencyPath(oldSize, newSize))
        expect(hexOf(path)).toEqual(hexOf(consistencyProof(oldSize, data.slice(0, newSize))))
        const claim = { oldSize, oldRoot: rootAt(oldSize), newSize, newRoot: rootAt(newSize), path }
        expect(isConsistent(claim, sha256)).toBe(true)
        expect(isConsistent({ ...claim, oldRoot: sha256(claim.oldRoot) }, sha256)).toBe(false)
        expect(isConsistent({ ...claim, newRoot: sha256(claim.newRoot) }, sha256)).toBe(false)
        expect(isConsistent({ ...claim, path: [...path, rootAt(1)] }, sha256)).toBe(false)
        if (path.length > 0) expect(isConsistent({ ...claim, path: path.slice(1) }, sha256)).toBe(false)
      }),
      { numRuns: 40 },
    )
  })

  it('give the frontier and the root at every size', () => {
    fc.assert(
      fc.property(size, (treeSize) => {
        const frontier = frontierAt(treeSize, readerFor(nodes, frontierPath(treeSize)), sha256)
        expect(hexFromBytes(rootOf(frontier!, sha256))).toBe(hexFromBytes(rootAt(treeSize)))
      }),
      { numRuns: 50 },
    )
  })

  it('lead nowhere with another leaf, index, size, length or hash', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 600 }), fc.nat(), fc.nat(), (treeSize, seed, change) => {
        const index = seed % treeSize
        const path = hashesOf(nodes, inclusionPath(index, treeSize))
        const leaf = leafHash(data[index]!, sha256)
        const given = { leaf, index, size: treeSize, path }
        const at = change % path.length
        const wrong = [
          { ...given, leaf: leafHash(data[(index + 1) % treeSize]!, sha256) },
          { ...given, leaf: data[index]! },
          { ...given, index: (index + 1) % treeSize },
          { ...given, index: treeSize },
          { ...given, index: -1 },
          { ...given, path: path.slice(1) },
          { ...given, path: [...path, leaf] },
          { ...given, path: path.with(at, sha256(path[at]!)) },
        ]
        for (const claim of wrong) {
          const root = rootFromInclusion(claim, sha256)
          expect(root === null ? '' : hexFromBytes(root)).not.toBe(hexFromBytes(rootAt(treeSize)))
        }
      }),
      { numRuns: 60 },
    )
  })

  it('read at most two tiles of a level, however large the tree is', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 40 }), fc.nat({ max: 2 ** 40 }), (treeSize, seed) => {
        const index = seed % treeSize
        const levels = Math.ceil(Math.log2(treeSize + 1) / 8) + 1
        for (const subtrees of [inclusionPath(index, treeSize), consistencyPath(index + 1, treeSize)]) {
          const ranges = nodesFor(subtrees)
          expect(ranges.length).toBeLessThanOrEqual(2 * levels)
          for (const { from, to } of ranges) expect(to - from).toBeLessThanOrEqual(TILE_WIDTH)
        }
      }),
    )
  })

  it('are not made up where a node is missing', () => {
    const holed = new Map(nodes)
    holed.delete('1/1')
    const subtrees = inclusionPath(3, 1024)
    expect(subtrees.map((subtree) => subtreeHash(subtree, readerFor(holed, subtrees), sha256))).toContain(
      null,
    )
    expect(frontierAt(1024, readerFor(holed, frontierPath(1024)), sha256)).toBeNull()
  })
})

describe('consistency', () => {
  const data = dataOf(8)
  const claim = { oldSize: 3, oldRoot: treeHash(data.slice(0, 3)), newSize: 8, newRoot: treeHash(data) }

  it('needs a smaller tree before a larger one', () => {
    const path = consistencyProof(3, data)
    expect(isConsistent({ ...claim, path }, sha256)).toBe(true)
    expect(isConsistent({ ...claim, oldSize: 8, newSize: 3, path }, sha256)).toBe(false)
    expect(isConsistent({ ...claim, oldSize: 0, path: [] }, sha256)).toBe(false)
    expect(isConsistent({ ...claim, path: [] }, sha256)).toBe(false)
  })

  it('of a tree with itself needs the same root and no hashes', () => {
    const same = { ...claim, oldSize: 8, oldRoot: claim.newRoot }
    expect(isConsistent({ ...same, path: [] }, sha256)).toBe(true)
    expect(isConsistent({ ...same, oldRoot: claim.oldRoot, path: [] }, sha256)).toBe(false)
    expect(isConsistent({ ...same, path: [claim.newRoot] }, sha256)).toBe(false)
  })
})

describe('stored nodes', () => {
  it('are completed once each, children first, in whatever steps the tree grows', () => {
    const whole = [...completedNodes(0, 200_000)]
    const first = [...completedNodes(0, 70_000)]
    const rest = [...completedNodes(70_000, 200_000)]
    expect([...first, ...rest]).toEqual(whole)
    expect(whole.filter(({ level }) => level === 1)).toHaveLength(781)
    expect(whole.filter(({ level }) => level === 2)).toEqual([
      { level: 2, index: 0 },
      { level: 2, index: 1 },
      { level: 2, index: 2 },
    ])
    expect(whole.findIndex(({ level }) => level === 2)).toBe(256)
    expect([...completedNodes(255, 255)]).toEqual([])
    expect([...completedNodes(255, 256)]).toEqual([{ level: 1, index: 0 }])
    expect([...completedNodes(256 ** 3 - 1, 256 ** 3)].map(({ level }) => level)).toEqual([1, 2, 3])
  })
})
