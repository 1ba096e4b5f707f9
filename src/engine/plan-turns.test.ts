import { timestampOf } from '../core/shared/brand.ts'
import { expect, it } from 'vitest'
import { MemoryLog } from '../adapters/storage/memory/memory-log.ts'
import type { Command } from '../core/decide.ts'
import type { KillSwitchLevel } from '../core/shared/level.ts'
import type { Engine } from './engine.ts'
import type { Outcome } from './plan.ts'
import { access, openEngine, registration, set } from './engine.fixture.ts'

const TURN_MAX = 10

const resources = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `r${index}`)

/** An engine that decides all waiting commands in one batch, ten in each turn of the event loop. */
const openTurns = async (onDecision: (count: number) => void) => {
  const log = new MemoryLog()
  let count = 0
  const batches: number[] = []
  const limits = { inFlightMax: 1, turnMax: TURN_MAX }
  const engine: Engine = await openEngine(log, { limits })
  engine.eventBus.subscribe(({ events }) => batches.push(events.length))
  /** Executes a command, and calls `onDecision` when it is decided. */
  const execute = (command: Command): Promise<Outcome> =>
    engine.execute(command, {
      expects: () => {
        count += 1
        onDecision(count)
        return true
      },
    })
  const stored = async (): Promise<readonly string[]> =>
    (await log.read({ order: 'asc', limit: 1000 })).map(
      ({ type, payload }) => (JSON.parse(payload) as { readonly resource?: string }).resource ?? type,
    )
  return { engine, execute, batches, stored }
}

it('decides a large batch in several turns of the event loop, and stores it as one', async () => {
  let turn = 0
  const turnOf: number[] = []
  const { execute, batches, stored } = await openTurns(() => turnOf.push(turn))
  let next = setImmediate(function count() {
    turn += 1
    next = setImmediate(count)
  })
  await Promise.all(resources(35).map((resource) => execute(access(resource))))
  clearImmediate(next)
  const perTurn = [...new Set(turnOf)].map((each) => turnOf.filter((at) => at === each).length)
  expect(perTurn).toEqual([10, 10, 10, 5])
  expect(batches).toEqual([35])
  expect(await stored()).toEqual(resources(35))
})

it('lets an urgent command wait for a turn, not for the batch; the rest follows in its order', async () => {
  const urgent: Promise<unknown>[] = []
  const { engine, execute, batches, stored } = await openTurns((count) => {
    if (count === 3) urgent.push(engine.execute(set(3)))
  })
  await Promise.all(resources(35).map((resource) => execute(access(resource))))
  await Promise.all(urgent)
  expect(await stored()).toEqual([
    ...resources(35).slice(0, TURN_MAX),
    'system.kill_switch.v1',
    'alert.kill_switch',
    ...resources(35).slice(TURN_MAX),
  ])
  expect(batches[0]).toBe(TURN_MAX)
})

it('finds stored dedupe keys also in requests that were left for later', async () => {
  const urgent: Promise<unknown>[] = []
  const { engine, execute, stored } = await openTurns((count) => {
    if (count === FIRST_AGAIN) urgent.push(engine.execute(set(3)))
  })
  await execute(registration('p1'))
  const emitAll = () => Promise.all(resources(35).map((key) => execute(signal(key))))
  await emitAll()
  const before = await stored()
  const again = await emitAll()
  await Promise.all(urgent)
  expect(urgent).toHaveLength(1)
  expect(again.every((outcome) => outcome.status === 'done' && outcome.replayed)).toBe(true)
  expect(await stored()).toEqual([...before, 'system.kill_switch.v1', 'alert.kill_switch'])
})

/** The producer and each signal are decided once before the third of the repeated signals. */
const FIRST_AGAIN = 1 + 35 + 3

const signal = (dedupeKey: string): Command => ({
  kind: 'emit-signal',
  emission: {
    producerId: 'p1',
    type: 'signal.ta.v1',
    payload: { symbol: 'BTC', rsi_14: 40 },
    ts: timestampOf('2026-02-20T00:00:00.000Z'),
    dedupeKey,
  },
})

it('does not cut a batch of urgent commands for one more of them', async () => {
  const urgent: Promise<unknown>[] = []
  const levels = Array.from({ length: 15 }, (_, index): KillSwitchLevel => (index % 2 === 0 ? 1 : 2))
  const { engine, execute, batches } = await openTurns((count) => {
    if (count === 3) urgent.push(engine.execute(set(3)))
  })
  await Promise.all(levels.map((level) => execute(set(level))))
  await Promise.all(urgent)
  // The last command alone is in a separate batch, with its move and its alert.
  expect(batches).toEqual([expect.any(Number), 2])
})
