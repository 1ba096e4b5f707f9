import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { appendTo } from '../../test/records.fixture.ts'
import { treeHash } from '../../test/rfc6962.fixture.ts'
import type { LogRecord } from '../core/log/event.ts'
import { frontierAt, frontierPath, nodesFor, TILE_WIDTH, type NodeRange } from '../core/log/tree.ts'
import { rootOf } from '../core/log/merkle.ts'
import type { Logs } from './event-log.fixture.ts'
import type { EventLog } from './event-log.ts'

const hexOf = (nodes: readonly Uint8Array[]): readonly string[] =>
  nodes.map((node) => Buffer.from(node).toString('hex'))

const hashesOf = (records: readonly LogRecord[]): readonly Buffer[] =>
  records.map((record) => Buffer.from(record.hash, 'hex'))

/** Expected nodes, computed from the definition in RFC 6962. */
const expectedNodes = (records: readonly LogRecord[], { level, from, to }: NodeRange): readonly string[] => {
  const width = TILE_WIDTH ** level
  const nodes: Buffer[] = []
  for (let index = from; index < to && (index + 1) * width <= records.length; index += 1)
    nodes.push(treeHash(hashesOf(records.slice(index * width, (index + 1) * width))))
  return hexOf(nodes)
}

const rootAt = async (log: EventLog, size: number): Promise<string> => {
  const nodes = new Map<string, Uint8Array>()
  for (const range of nodesFor(frontierPath(size)))
    for (const [at, node] of (await log.treeNodes(range)).entries())
      nodes.set(`${range.level}/${range.from + at}`, node)
  const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer')
  const frontier = frontierAt(size, ({ level, index }) => nodes.get(`${level}/${index}`), sha256)
  return Buffer.from(rootOf(frontier!, sha256)).toString('hex')
}

/** The tree over event hashes, compared with an independent implementation. */
export const treeContract = (logs: Logs): void => {
  describe(`${logs.name}: tree`, () => {
    it('is empty as long as the log is', async () => {
      const log = await logs.open()
      expect(await log.treeNodes({ level: 0, from: 0, to: 256 })).toEqual([])
      expect(await log.treeNodes({ level: 1, from: 0, to: 256 })).toEqual([])
    })

    it('grows with every append, whatever the size of the batches', async () => {
      const log = await logs.open()
      const records: LogRecord[] = []
      for (const count of [1, 254, 1, 1, 255, 300, 700, 24]) {
        records.push(...(await appendTo(log, count)))
        for (const range of [
          { level: 0, from: Math.max(0, records.length - 3), to: records.length + 3 },
          { level: 1, from: 0, to: 10 },
          { level: 1, from: 1, to: 3 },
          { level: 2, from: 0, to: 1 },
        ])
          expect(hexOf(await log.treeNodes(range))).toEqual(expectedNodes(records, range))
      }
      expect(await log.treeNodes({ level: 1, from: 0, to: 10 })).toHaveLength(6)
      for (const size of [1, 2, 255, 256, 257, 1000, records.length])
        expect(await rootAt(log, size)).toBe(treeHash(hashesOf(records.slice(0, size))).toString('hex'))
    })

    it.runIf(logs.can.second)('is the same for all who append', async () => {
      const log = await logs.open()
      const other = await logs.second(log)
      const records: LogRecord[] = []
      for (let round = 0; round < 8; round += 1)
        records.push(...(await appendTo(round % 2 === 0 ? log : other, 100)))
      const range = { level: 1, from: 0, to: 4 }
      expect(hexOf(await log.treeNodes(range))).toEqual(expectedNodes(records, range))
      expect(hexOf(await other.treeNodes(range))).toEqual(expectedNodes(records, range))
    })

    it.runIf(logs.can.reopen)('is still there after opening again', async () => {
      const log = await logs.open()
      const records = [...(await appendTo(log, 600))]
      const again = await logs.reopen(log)
      records.push(...(await appendTo(again, 300)))
      const range = { level: 1, from: 0, to: 4 }
      expect(hexOf(await again.treeNodes(range))).toEqual(expectedNodes(records, range))
    })

    it('has a node of level 2 after 65,536 events', async () => {
      const log = await logs.open()
      const records = [...(await appendTo(log, 65_600, () => ({ payload: {} })))]
      const [below, above] = [
        { level: 1, from: 0, to: 300 },
        { level: 2, from: 0, to: 2 },
      ]
      const rootOfAll = (): string => treeHash(hashesOf(records)).toString('hex')
      expect(await log.treeNodes(below)).toHaveLength(256)
      expect(hexOf(await log.treeNodes(above))).toEqual(expectedNodes(records, above))
      expect(await rootAt(log, records.length)).toBe(rootOfAll())
    })
  })
}
