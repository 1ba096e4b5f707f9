import { timestampOf } from '../core/shared/brand.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { testClock, testSigner } from '../../test/signer.fixture.ts'
import { MemoryLog } from '../adapters/storage/memory/memory-log.ts'
import { MemoryStore } from '../adapters/storage/memory/memory-store.ts'
import type { Command } from '../core/decide.ts'
import { encodeState } from '../core/state-codec.ts'
import { STATE_VERSION } from '../core/state.ts'
import type { LogRecord } from '../core/log/event.ts'
import type { LogQuery } from '../ports/event-log.ts'
import { settle } from '../ports/manual-timer.fixture.ts'
import { EngineClosedError, QueueFullError } from './command-queue.ts'
import { access, everything, openEngine, registration, set } from './engine.fixture.ts'
import { catchUp, EMPTY_MEMORY, stateHashOf } from './memory.ts'

describe('a command recorded alongside', () => {
  const signal = (dedupeKey: string, rsi = 40): Command => ({
    kind: 'emit-signal',
    emission: {
      producerId: 'p1',
      type: 'signal.ta.v1',
      payload: { symbol: 'BTC', rsi_14: rsi },
      ts: timestampOf('2026-02-20T00:00:00.000Z'),
      dedupeKey,
    },
  })

  it('is stored right behind its command, and only if that writes something', async () => {
    const log = new MemoryLog()
    const engine = await openEngine(log)
    await engine.execute(registration('p1'))
    const options = { alongside: access('/signals') }
    const outcomes = await Promise.all([
      engine.execute(signal('a'), options),
      engine.execute(signal('a'), options),
      engine.execute(signal('a', 41), options),
      engine.execute(signal('b'), options),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['done', 'done', 'refused', 'done'])
    expect(outcomes[0]).toMatchObject({ events: [{ type: 'signal.ta.v1' }, {}], replayed: false })
    const once = ['signal.ta.v1', 'attribution.recorded.v1', 'system.audit.v1']
    expect((await everything(log)).map(({ type }) => type)).toEqual([
      'producer.registered.v1',
      ...once,
      ...once,
    ])
    await engine.close()
  })
})

describe('a command', () => {
  it('is answered with its stored, chained and signed events', async () => {
    const log = new MemoryLog()
    const engine = await openEngine(log)
    const outcome = await engine.execute(set(2), { traceId: 't-1' })
    expect(outcome).toMatchObject({ status: 'done', replayed: false })
    const records = await everything(log)
    expect(records.map(({ seq, type, traceId }) => [seq, type, traceId])).toEqual([
      [1, 'system.kill_switch.v1', 't-1'],
      [2, 'alert.kill_switch', 't-1'],
    ])
    expect(records[0]).toMatchObject({
      prevHash: '',
      signer: engine.nodeId,
      signature: expect.stringMatching(/^[0-9a-f]{128}$/),
    })
    expect(await log.verifyHashes({ after: 0, upTo: 2 })).toEqual({ ok: true, checked: 2 })
    expect(engine.state.trading.killSwitch.level).toBe(2)
  })

  it('that is refused stores nothing', async () => {
    const log = new MemoryLog()
    const engine = await openEngine(log)
    const outcome = await engine.execute({
      kind: 'reset-kill-switch',
      move: { level: 1, reason: 'x', operator: 'o', surface: 'cli' },
    })
    expect(outcome).toMatchObject({ status: 'refused', refusal: { code: 'kill_switch.not_lower' } })
    expect(await log.count()).toBe(0)
  })

  it('whose decision throws fails alone', async () => {
    const engine = await openEngine(new MemoryLog())
    const results = await Promise.allSettled([
      engine.execute(access('before')),
      engine.execute(access('lone surrogate \ud800')),
      engine.execute({ kind: 'nonsense' } as unknown as Command),
      engine.execute(access('after')),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
    expect(engine.head.seq).toBe(2)
  })

  it('never goes back in time, even if the clock does', async () => {
    const clock = testClock()
    const log = new MemoryLog()
    const engine = await openEngine(log, { clock })
    await engine.execute(access('a'))
    clock.advance(-60_000)
    await engine.execute(access('b'))
    const [first, second] = await everything(log)
    expect(second?.recordedAt).toBe(first?.recordedAt)
  })
})

describe('many commands at once', () => {
  it('share batches, keep their order and are published once, in order, after they are stored', async () => {
    const log = new MemoryLog()
    const engine = await openEngine(log)
    const published: number[] = []
    engine.eventBus.subscribe(({ events, records }) => {
      expect(records.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq))
      published.push(...events.map(({ seq }) => seq))
    })
    await Promise.all(Array.from({ length: 500 }, (_, index) => engine.execute(access(`r${index}`))))
    const records = await everything(log)
    expect(records.map(({ payload }) => (JSON.parse(payload) as { resource: string }).resource)).toEqual(
      Array.from({ length: 500 }, (_, index) => `r${index}`),
    )
    expect(published).toEqual(records.map(({ seq }) => seq))
  })

  it('beyond the queue are refused at once and lose nothing', async () => {
    const engine = await openEngine(new MemoryLog(), { limits: { queueMax: 10 } })
    const results = await Promise.allSettled(Array.from({ length: 30 }, () => engine.execute(access('x'))))
    const refused = results.filter((result) => result.status === 'rejected')
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.every(({ reason }) => reason instanceof QueueFullError)).toBe(true)
    expect(engine.head.seq).toBe(30 - refused.length)
  })

  it('finish before the engine closes; later ones are refused', async () => {
    const engine = await openEngine(new MemoryLog())
    const waiting = Array.from({ length: 50 }, () => engine.execute(access('x')))
    await engine.close()
    expect(await Promise.all(waiting)).toHaveLength(50)
    await expect(engine.execute(access('late'))).rejects.toBeInstanceOf(EngineClosedError)
  })
})

describe('two engines on one log', () => {
  it('never fork it, and each sees what the other stored', async () => {
    const log = new MemoryLog()
    const [one, other] = [await openEngine(log), await openEngine(log, { signer: testSigner(2) })]
    await Promise.all(
      Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? one : other).execute(access(`r${index}`))),
    )
    expect(await log.verifyHashes({ after: 0, upTo: 200 })).toEqual({ ok: true, checked: 200 })
    expect(await log.count()).toBe(200)
    expect(encodeState(await one.fresh())).toBe(encodeState(await other.fresh()))
  })

  it('decide on the state that the other stored', async () => {
    const log = new MemoryLog()
    const [one, other] = [await openEngine(log), await openEngine(log)]
    await one.execute(set(3))
    expect(
      await other.execute({ kind: 'escalate', to: 2, cause: { reason: 'x', triggers: [] } }),
    ).toMatchObject({ events: [] })
    await other.execute(set(1))
    expect((await one.fresh()).trading.killSwitch.level).toBe(1)
  })

  it('see what the other stored while they were reading', async () => {
    const store = new MemoryStore()
    let isSlow = false
    let release = (): void => undefined
    const slowLog = new (class extends MemoryLog {
      override async read(query: LogQuery): Promise<readonly LogRecord[]> {
        const page = await super.read(query)
        if (!isSlow) return page
        await new Promise<void>((resolve) => {
          release = resolve
        })
        return page
      }
    })(store)
    const [one, other] = [await openEngine(slowLog), await openEngine(new MemoryLog(store))]
    isSlow = true
    await other.execute(set(1))
    await settle()
    await other.execute(set(2))
    await settle()
    for (let turn = 0; turn < 5; turn += 1) {
      release()
      await settle()
    }
    expect(one.state.trading.killSwitch.level).toBe(2)
  })

  it('publish what the other stored', async () => {
    const log = new MemoryLog()
    const [one, other] = [await openEngine(log), await openEngine(log)]
    const published: string[] = []
    one.eventBus.subscribe(({ events }) => published.push(...events.map(({ type }) => type)))
    await other.execute(set(1))
    await one.fresh()
    expect(published).toEqual(['system.kill_switch.v1', 'alert.kill_switch'])
  })
})

describe('a snapshot', () => {
  it('plus the tail gives the same state as everything, and as the live engine', async () => {
    const levels = fc.array(fc.constantFrom(0, 1, 2, 3 as const), { minLength: 1, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(levels, fc.integer({ min: 1, max: 7 }), async (moves, everyEvents) => {
        const log = new MemoryLog()
        const engine = await openEngine(log, { snapshotEveryEvents: everyEvents })
        for (const level of moves) await engine.execute(set(level))
        const restarted = await openEngine(log)
        const all = await catchUp(log, EMPTY_MEMORY, { trust: null })
        expect(stateHashOf(restarted.state)).toBe(stateHashOf(engine.state))
        expect(stateHashOf(all.state)).toBe(stateHashOf(engine.state))
        expect(restarted.head).toEqual(engine.head)
      }),
      { numRuns: 40 },
    )
  })

  it('is saved when the engine closes', async () => {
    const log = new MemoryLog()
    const engine = await openEngine(log)
    await engine.execute(set(1))
    await engine.close()
    expect(await log.loadSnapshot(STATE_VERSION)).toMatchObject({ seq: 2, chainHash: engine.head.hash })
  })

  it('that was tampered with is not used', async () => {
    const log = new MemoryLog()
    const engine = await openEngine(log)
    await engine.execute(set(1))
    const state = encodeState({
      ...engine.state,
      trading: { ...engine.state.trading, killSwitch: { ...engine.state.trading.killSwitch, level: 0 } },
    })
    await log.saveSnapshot({
      seq: 2,
      chainHash: engine.head.hash,
      stateVersion: STATE_VERSION,
      stateHash: 'not its hash',
      state,
      signature: '',
      signer: '',
    })
    expect((await openEngine(log)).state.trading.killSwitch.level).toBe(1)
  })
})
