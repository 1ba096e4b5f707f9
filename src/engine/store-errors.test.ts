import { nodeId, timestampOf } from '../core/shared/brand.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MemoryLog } from '../adapters/storage/memory/memory-log.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import type { Head, LogRecord } from '../core/log/event.ts'
import { StoreUnavailableError, type AppendResult } from '../ports/event-log.ts'
import { access, everything, openEngine, set } from './engine.fixture.ts'
import { catchUp, EMPTY_MEMORY, stateHashOf } from './memory.ts'
import { plan } from './plan.ts'
import { sha256Hex } from './sha256.ts'

const afterTurns = async (turns: number): Promise<void> => {
  for (let turn = 0; turn < turns; turn += 1) await nextTurn()
}

type Fault = 'fail' | 'store-then-fail' | 'foreign-first' | 'ok'

/** A log whose appends fail as the script defines, before or after storing. */
class FaultyLog extends MemoryLog {
  readonly #script: Fault[]
  #foreignCount = 0

  constructor(script: readonly Fault[]) {
    super()
    this.#script = [...script]
  }

  override async append(records: readonly LogRecord[], expected: Head): Promise<AppendResult> {
    const fault = this.#script.shift() ?? 'ok'
    if (fault === 'fail') throw new StoreUnavailableError('disk full')
    if (fault === 'foreign-first') await this.#appendForeign()
    const result = await super.append(records, expected)
    if (fault === 'store-then-fail') throw new StoreUnavailableError('connection lost after commit')
    return result
  }

  async #appendForeign(): Promise<void> {
    const head = await this.head()
    const { records } = await plan(
      [{ command: access('foreign'), traceId: null, alongside: null, leaderToken: null }],
      { state: { ...EMPTY_MEMORY.state, seq: head.seq }, head },
      new Map(),
      {
        now: timestampOf('2026-02-20T00:30:00.000Z'),
        seed: `foreign-${(this.#foreignCount += 1)}`.padEnd(36, '0'),
        configuration: DEFAULT_CONFIGURATION,
        version: '0',
        sha256Hex,
        nodeId: nodeId('foreign'),
        sign: () => '',
        isSigned: () => false,
        elapsedMs: () => 0,
      },
      { requestsMax: 1, next: () => Promise.resolve(true) },
    )
    await super.append(
      records.map((record) => ({
        ...record,
        signature: null,
        signer: null,
        batchSignature: null,
        commands: null,
      })),
      head,
    )
  }
}

describe('an error of the store', () => {
  it('rejects the commands of that batch; later ones succeed', async () => {
    const log = new FaultyLog(['ok', 'fail', 'ok'])
    const engine = await openEngine(log)
    await engine.execute(set(1))
    await expect(engine.execute(set(2))).rejects.toBeInstanceOf(StoreUnavailableError)
    expect(engine.state.trading.killSwitch.level).toBe(1)
    await engine.execute(set(3))
    expect((await everything(log)).at(-2)?.payload).toContain('"prev_level":1')
  })

  it('after an unclear commit the engine takes the state from the log', async () => {
    const log = new FaultyLog(['store-then-fail'])
    const engine = await openEngine(log)
    await expect(engine.execute(set(2))).rejects.toBeInstanceOf(StoreUnavailableError)
    expect((await engine.fresh()).trading.killSwitch.level).toBe(2)
  })

  it('leaves a valid chain in any order: acknowledged commands once, in state and log alike', async () => {
    const step = fc.constantFrom<Fault>('ok', 'ok', 'fail', 'store-then-fail', 'foreign-first')
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 4 }),
        async (script, commands, turnMax) => {
          const log = new FaultyLog(script)
          const engine = await openEngine(log, { limits: { batchMax: 3, turnMax } })
          // Urgent commands arrive while others are decided.
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
          expect(stateHashOf((await catchUp(log, EMPTY_MEMORY, { trust: null })).state)).toBe(
            stateHashOf(engine.state),
          )
        },
      ),
      { numRuns: 60 },
    )
  })

  it('rejects every waiting command when the log cannot be read', async () => {
    const log = new MemoryLog()
    const engine = await openEngine(log)
    log.head = () => Promise.reject(new StoreUnavailableError('gone'))
    await expect(engine.execute(set(1))).rejects.toBeInstanceOf(StoreUnavailableError)
    await expect(engine.fresh()).rejects.toBeInstanceOf(StoreUnavailableError)
  })
})
