import { canonicalSymbol } from '../core/shared/symbol.ts'
import { priceFrom } from '../core/shared/money.ts'
import { timestampOf } from '../core/shared/brand.ts'
import { expect, it } from 'vitest'
import { MemoryLog } from '../adapters/storage/memory/memory-log.ts'
import type { Command } from '../core/decide.ts'
import { CommandQueue, QueueFullError } from './command-queue.ts'
import { access, openEngine, set } from './engine.fixture.ts'

const usual: Command = { kind: 'watch-regime' }
const urgent: Command = {
  kind: 'observe-tick',
  tick: { symbol: canonicalSymbol('BTC'), price: priceFrom(1), ts: timestampOf('t'), confirms: null },
}

const queueOf = (...ids: readonly string[]): CommandQueue<{ command: Command; id: string }> => {
  const queue = new CommandQueue<{ command: Command; id: string }>()
  for (const id of ids) queue.push({ id, command: id.startsWith('u') ? urgent : usual })
  return queue
}
const idsOf = (taken: readonly { id: string }[]): readonly string[] => taken.map(({ id }) => id)

it('is first in, first out when nothing is urgent', () => {
  const queue = queueOf('a', 'b', 'c')
  expect(idsOf(queue.take(2, 1))).toEqual(['a', 'b'])
  expect(queue.length).toBe(1)
})

it('takes urgent commands first, with few others beside them', () => {
  const queue = queueOf('a', 'b', 'c', 'd', 'u1', 'u2')
  expect(idsOf(queue.take(100, 3))).toEqual(['u1', 'u2', 'a'])
  expect(idsOf(queue.take(100, 3))).toEqual(['b', 'c', 'd'])
})

it('takes no more than asked for, however urgent', () => {
  expect(idsOf(queueOf('u1', 'u2', 'u3', 'a').take(2, 5))).toEqual(['u1', 'u2'])
})

it('puts back what was taken, before all that came later', () => {
  const queue = queueOf('a', 'u1', 'b')
  const taken = queue.take(2, 2)
  queue.push({ id: 'u2', command: urgent })
  queue.putBack(taken)
  expect(idsOf(queue.takeAll())).toEqual(['u1', 'u2', 'a', 'b'])
})

it('counts how many commands are before another in its lane', () => {
  const queue = queueOf('a', 'b', 'u1')
  expect([queue.lengthBefore(usual), queue.lengthBefore(urgent)]).toEqual([2, 1])
})

const MOVE = { level: 0, reason: 'test', operator: 'svc-1', surface: 'api' } as const

it('lets an engine decide urgent commands before a flood, in their order and in small batches', async () => {
  const log = new MemoryLog()
  const limits = { batchMax: 8, urgentBatchMax: 4, inFlightMax: 1, queueMax: 40 }
  const engine = await openEngine(log, { limits })
  const flood = Array.from({ length: 40 }, (_, index) => engine.execute(access(`r${index}`)))
  const batches: number[] = []
  engine.eventBus.subscribe(({ events }) => batches.push(events.length))
  await expect(engine.execute(access('one too many'))).rejects.toThrow(QueueFullError)
  await Promise.all([
    engine.execute(set(3)),
    engine.execute(set(1)),
    engine.execute({ kind: 'reset-kill-switch', move: MOVE }),
  ])
  const last = (await log.read({ order: 'asc', limit: 1000 })).findLast(
    ({ type }) => type === 'system.kill_switch.v1',
  )
  expect(last?.seq).toBeLessThan(20)
  expect(JSON.parse(last?.payload ?? '{}')).toMatchObject({ level: 0 })
  expect(Math.max(...batches.slice(0, 2))).toBeLessThan(20)
  await Promise.all(flood)
  const accesses = (await log.read({ order: 'asc', limit: 1000 })).filter(({ payload }) =>
    payload.includes('resource'),
  )
  expect(accesses.map(({ payload }) => (JSON.parse(payload) as { resource: string }).resource)).toEqual(
    Array.from({ length: 40 }, (_, index) => `r${index}`),
  )
})
