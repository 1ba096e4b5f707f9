import { expect, it } from 'vitest'
import { testSigner } from '../../../test/signer.fixture.ts'
import { signatures } from '../../adapters/platform/signatures/signatures.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import { MemoryStore } from '../../adapters/storage/memory/memory-store.ts'
import type { LogRecord } from '../../core/log/event.ts'
import { openEngine, set } from '../engine.fixture.ts'
import { catchUp, EMPTY_MEMORY } from '../memory.ts'
import { isSignedInPlace } from './trust.ts'

/** Raises the kill switch, changes the stored events, and reads the log as its own node. */
const readBack = async (change: (record: LogRecord) => LogRecord) => {
  const store = new MemoryStore()
  const log = new MemoryLog(store)
  const engine = await openEngine(log)
  await engine.execute(set(2))
  await engine.close()
  store.records.splice(0, store.records.length, ...store.records.map(change))
  const unsigned: number[] = []
  const { state } = await catchUp(log, EMPTY_MEMORY, {
    trust: { signatures, own: testSigner(), firstHash: null },
    onUnsigned: (records) => void unsigned.push(...records.map(({ seq }) => seq)),
  })
  return { level: state.trading.killSwitch.level, unsigned }
}

it('folds a batch that its own node has signed', async () => {
  expect(await readBack((record) => record)).toEqual({ level: 2, unsigned: [] })
})

it('folds nothing of a batch whose signature is of another text, and tells of it', async () => {
  const other = `2:${testSigner().sign('another batch')}`
  const forged = await readBack((record) =>
    record.batchSignature === null ? record : { ...record, batchSignature: other },
  )
  expect(forged).toEqual({ level: 0, unsigned: [1, 2] })
})

it('finds the whole batch of an event, wherever the event stands in it', async () => {
  const store = new MemoryStore()
  const log = new MemoryLog(store)
  const engine = await openEngine(log)
  await engine.execute(set(2))
  await engine.execute(set(3))
  const keys = engine.state.operations.nodes
  await engine.close()
  const trust = { signatures, own: testSigner(), firstHash: null }
  const signed = async () =>
    Promise.all(store.records.map((record) => isSignedInPlace(log, record, keys, trust)))
  expect(store.records.length).toBeGreaterThan(3)
  expect(new Set(await signed())).toEqual(new Set([true]))
  const last = store.records.length - 1
  store.records.splice(last - 1, 1, { ...store.records[last - 1]!, hash: '0'.repeat(64) })
  // The event itself is as it was; another one of its batch is not.
  expect((await signed()).at(-1)).toBe(false)
})
