import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { testClock, testSigner } from '../../test/parts.ts'
import { MemoryLog } from '../adapters/storage/memory/memory-log.ts'
import type { Command } from '../core/commands.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import type { Head, LogRecord } from '../core/log/event.ts'
import { encodeState } from '../core/state-codec.ts'
import { STATE_VERSION } from '../core/state.ts'
import type { KillSwitchLevel } from '../core/vocabulary/level.ts'
import { StoreUnavailableError, type AppendResult, type EventLog } from '../ports/event-log.ts'
import { Engine, type EngineParts } from './engine.ts'
import { EngineClosedError, QueueFullError } from './errors.ts'
import { catchUp, EMPTY_MEMORY, stateHashOf } from './memory.ts'
import { plan } from './plan.ts'
import { sha256Hex } from './sha256.ts'

const troubles: string[] = []

const openEngine = (log: EventLog, parts: Partial<EngineParts> = {}): Promise<Engine> =>
  Engine.open({
    log,
    signer: testSigner(),
    clock: testClock(),
    snapshotEveryEvents: 1000,
    onTrouble: (what) => troubles.push(what),
    ...parts,
  })

const access = (resource: string): Command => ({
  kind: 'record-access',
  surface: 'api',
  entry: { resource, action: 'read', outcome: 'denied', reason: null, request_id: null },
})
const set = (level: KillSwitchLevel): Command => ({
  kind: 'set-kill-switch',
  move: { level, reason: 'test', operator: 'svc-1', surface: 'api' },
})

const everything = async (log: EventLog): Promise<readonly LogRecord[]> =>
  log.read({ order: 'asc', limit: 100_000 })

const afterTurns = async (turns: number): Promise<void> => {
  for (let turn = 0; turn < turns; turn += 1) await nextTurn()
}

type Trouble = 'fail' | 'store-then-fail' | 'foreign-first' | 'ok'

/** A log whose appends fail as the script says, before or after storing: real trouble, not a pretended answer. */
class TroubledLog extends MemoryLog {
  readonly #script: Trouble[]
  #foreignCount = 0

  constructor(script: readonly Trouble[]) {
    super()
    this.#script = [...script]
  }

  override async append(records: readonly LogRecord[], expected: Head): Promise<AppendResult> {
    const trouble = this.#script.shift() ?? 'ok'
    if (trouble === 'fail') throw new StoreUnavailableError('disk full')
    if (trouble === 'foreign-first') await this.#appendForeign()
    const result = await super.append(records, expected)
    if (trouble === 'store-then-fail') throw new StoreUnavailableError('connection lost after commit')
    return result
  }

  async #appendForeign(): Promise<void> {
    const head = await this.head()
    const { records } = await plan(
      [{ command: access('foreign'), traceId: null, alongside: null }],
      { state: { ...EMPTY_MEMORY.state, seq: head.seq }, head },
      new Map(),
      {
        now: '2026-02-20T00:30:00.000Z',
        newId: () => `foreign-${(this.#foreignCount += 1)}`,
        configuration: DEFAULT_CONFIGURATION,
        version: '0',
        sha256Hex,
        nodeId: 'foreign',
        sign: () => '',
        elapsedMs: () => 0,
      },
      { requestsMax: 1, next: () => Promise.resolve(true) },
    )
    await super.append(
      records.map((record) => ({ ...record, signature: null, signer: null })),
      head,
    )
  }
}

describe('what is recorded alongside', () => {
  const signal = (dedupeKey: string, rsi = 40): Command => ({
    kind: 'emit-signal',
    emission: {
      producerId: 'technical-analysis',
      type: 'signal.ta.v1',
      payload: { symbol: 'BTC', rsi_14: rsi },
      ts: '2026-02-20T00:00:00.000Z',
      dedupeKey,
    },
  })

  it('stands right behind the command, and only if that writes something', async () => {
    const log = new MemoryLog()
    const engine = await openEngine(log)
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
    expect((await everything(log)).map(({ type }) => type)).toEqual([...once, ...once])
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
    expect(engine.state.killSwitch.level).toBe(2)
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

  it('that breaks the decider fails alone', async () => {
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
  it('share batches, keep their order and are told on the feed once, in order, after they are stored', async () => {
    const log = new MemoryLog()
    const engine = await openEngine(log)
    const told: number[] = []
    engine.feed.subscribe(({ events, records }) => {
      expect(records.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq))
      told.push(...events.map(({ seq }) => seq))
    })
    await Promise.all(Array.from({ length: 500 }, (_, index) => engine.execute(access(`r${index}`))))
    const records = await everything(log)
    expect(records.map(({ payload }) => (JSON.parse(payload) as { resource: string }).resource)).toEqual(
      Array.from({ length: 500 }, (_, index) => `r${index}`),
    )
    expect(told).toEqual(records.map(({ seq }) => seq))
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

  it('decide on what the other stored', async () => {
    const log = new MemoryLog()
    const [one, other] = [await openEngine(log), await openEngine(log)]
    await one.execute(set(3))
    expect(
      await other.execute({ kind: 'escalate', to: 2, cause: { reason: 'x', triggers: [] } }),
    ).toMatchObject({ events: [] })
    await other.execute(set(1))
    expect((await one.fresh()).killSwitch.level).toBe(1)
  })

  it('tell on the feed what the other stored', async () => {
    const log = new MemoryLog()
    const [one, other] = [await openEngine(log), await openEngine(log)]
    const told: string[] = []
    one.feed.subscribe(({ events }) => told.push(...events.map(({ type }) => type)))
    await other.execute(set(1))
    await one.fresh()
    expect(told).toEqual(['system.kill_switch.v1', 'alert.kill_switch'])
  })
})

describe('trouble with the store', () => {
  it('is told to the callers of that batch; the next ones go on', async () => {
    const log = new TroubledLog(['ok', 'fail', 'ok'])
    const engine = await openEngine(log)
    await engine.execute(set(1))
    await expect(engine.execute(set(2))).rejects.toBeInstanceOf(StoreUnavailableError)
    expect(engine.state.killSwitch.level).toBe(1)
    await engine.execute(set(3))
    expect((await everything(log)).at(-2)?.payload).toContain('"prev_level":1')
  })

  it('after an unclear commit the engine believes the log', async () => {
    const log = new TroubledLog(['store-then-fail'])
    const engine = await openEngine(log)
    await expect(engine.execute(set(2))).rejects.toBeInstanceOf(StoreUnavailableError)
    expect((await engine.fresh()).killSwitch.level).toBe(2)
  })

  it('in any order leaves a valid chain: the acknowledged commands once, in state and log alike', async () => {
    const step = fc.constantFrom<Trouble>('ok', 'ok', 'fail', 'store-then-fail', 'foreign-first')
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 4 }),
        async (script, commands, turnMax) => {
          const log = new TroubledLog(script)
          const engine = await openEngine(log, { limits: { batchMax: 3, turnMax } })
          // Urgent ones come in while others are decided.
          const urgent = [1, 2, 3].map((turns) => afterTurns(turns).then(() => engine.execute(set(1))))
          const own = Array.from({ length: commands }, (_, index) => engine.execute(access(`own ${index}`)))
          const [results] = await Promise.all([Promise.allSettled(own), Promise.allSettled(urgent)])
          await engine.fresh()
          const records = await everything(log)
          expect(await log.verifyHashes({ after: 0, upTo: records.length })).toEqual({
            ok: true,
            checked: records.length,
          })
          const stored = records.map(({ payload }) => (JSON.parse(payload) as { resource: string }).resource)
          const acknowledged = results.flatMap(({ status }, index) =>
            status === 'fulfilled' ? [`own ${index}`] : [],
          )
          for (const resource of acknowledged)
            expect(stored.filter((name) => name === resource)).toHaveLength(1)
          for (let index = 0; index < commands; index += 1) {
            expect(stored.filter((name) => name === `own ${index}`).length).toBeLessThanOrEqual(1)
          }
          expect(stateHashOf((await catchUp(log, EMPTY_MEMORY)).state)).toBe(stateHashOf(engine.state))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('when the log cannot even be read, everyone who waits is told', async () => {
    const log = new MemoryLog()
    const engine = await openEngine(log)
    log.head = () => Promise.reject(new StoreUnavailableError('gone'))
    await expect(engine.execute(set(1))).rejects.toBeInstanceOf(StoreUnavailableError)
    await expect(engine.fresh()).rejects.toBeInstanceOf(StoreUnavailableError)
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
        const all = await catchUp(log, EMPTY_MEMORY)
        expect(stateHashOf(restarted.state)).toBe(stateHashOf(engine.state))
        expect(stateHashOf(all.state)).toBe(stateHashOf(engine.state))
        expect(restarted.head).toEqual(engine.head)
      }),
      { numRuns: 40 },
    )
  })

  it('is left behind when the engine closes', async () => {
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
    const state = encodeState({ ...engine.state, killSwitch: { ...engine.state.killSwitch, level: 0 } })
    await log.saveSnapshot({
      seq: 2,
      chainHash: engine.head.hash,
      stateVersion: STATE_VERSION,
      stateHash: 'not its hash',
      state,
    })
    expect((await openEngine(log)).state.killSwitch.level).toBe(1)
  })
})
