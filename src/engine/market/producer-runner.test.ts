import { describe, expect, it } from 'vitest'
import { testClock } from '../../../test/signer.fixture.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import type { Command } from '../../core/decide.ts'
import { timestampOf } from '../../core/shared/brand.ts'
import type { ProducedRow } from '../../ports/producer.ts'
import { everything, openEngine, registration } from '../engine.fixture.ts'
import { ProducerRunner } from './producer-runner.ts'

const TS = timestampOf('2026-02-20T00:00:00.000Z')
const ROW = { type: 'signal.ta.v1', payload: { symbol: 'BTC', rsi_14: 40 }, ts: TS } as const

const emission = (producerId: string, dedupeKey: string): Command => ({
  kind: 'emit-signal',
  emission: { producerId, ...ROW, dedupeKey },
})

/** A run as an earlier version stored it for the producer. */
const stored = (name: string, dedupeKey: string): Command => ({
  kind: 'run-producer',
  report: {
    name,
    end: 'usable',
    rows: [{ ...ROW, dedupeKey }],
    rejected: [],
    error: null,
    durationMs: 1,
  },
})

const opened = async (...names: readonly string[]) => {
  const log = new MemoryLog()
  const engine = await openEngine(log)
  for (const name of names) await engine.execute(registration(name))
  const errors: unknown[] = []
  const runner = new ProducerRunner({
    engine,
    clock: testClock(),
    onError: (_, error) => errors.push(error),
  })
  return {
    engine,
    /** Authors of the stored signals. */
    authors: async () =>
      (await everything(log)).filter(({ type }) => type === ROW.type).map(({ source }) => source),
    polled: async (name: string, dedupeKey: string | null, payload: ProducedRow['payload'] = ROW.payload) => {
      await runner.record({
        name,
        schedule: '* * * * *',
        rows: [{ ...ROW, payload, dedupeKey }],
        end: 'usable',
        error: null,
        rejected: [],
        durationMs: 1,
      })
      expect(errors).toEqual([])
    },
  }
}

describe('producers whose names have colons', () => {
  it('share no key with another producer: neither what they emit, nor what is polled, nor what has no key', async () => {
    const { engine, polled, authors } = await opened('a', 'a:b', 'a:BTC')
    expect(await engine.execute(emission('a', 'b:c'))).toMatchObject({ status: 'done', replayed: false })
    expect(await engine.execute(emission('a:b', 'c'))).toMatchObject({ status: 'done', replayed: false })
    await polled('a', 'b:c')
    await polled('a:b', 'c')
    await polled('a', null, { symbol: 'BTC:ETH', rsi_14: 40 })
    await polled('a:BTC', null, { symbol: 'ETH', rsi_14: 40 })
    expect(await authors()).toEqual(['a', 'a:b', 'a', 'a:b', 'a', 'a:BTC'])
    await engine.close()
  })

  it('are not stored again where an earlier version stored them', async () => {
    const { engine, polled, authors } = await opened('p', 'a:b')
    for (const name of ['p', 'a:b']) {
      await engine.execute(stored(name, `emit:${name}:c`))
      await engine.execute(stored(name, `poll:${name}:c`))
      await engine.execute(stored(name, `signal.ta.v1:${name}:BTC:${Date.parse(TS) / 60_000}`))
    }
    const before = await authors()
    expect(before).toHaveLength(6)
    for (const name of ['p', 'a:b']) {
      expect(await engine.execute(emission(name, 'c'))).toMatchObject({ status: 'done', replayed: true })
      await polled(name, 'c')
      await polled(name, null)
    }
    expect(await authors()).toEqual(before)
    await engine.close()
  })

  it('take no old key of another producer for their own', async () => {
    const { engine, polled, authors } = await opened('a', 'a:b')
    await engine.execute(stored('a', 'poll:a:b:c'))
    await engine.execute(stored('a', 'emit:a:b:c'))
    await polled('a:b', 'c')
    expect(await engine.execute(emission('a:b', 'c'))).toMatchObject({ status: 'done', replayed: false })
    expect(await authors()).toEqual(['a', 'a', 'a:b', 'a:b'])
    await engine.close()
  })
})
