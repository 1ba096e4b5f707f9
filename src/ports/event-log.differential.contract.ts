import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recordsAfter, sha256Hex, timeAt } from '../../test/records.fixture.ts'
import { MemoryLog } from '../adapters/storage/memory/memory-log.ts'
import { headOf, type Head, type LogRecord } from '../core/log/event.ts'
import type { Logs } from './event-log.fixture.ts'
import type { EventLog } from './event-log.ts'

/**
 * A random walk over the whole port. After any sequence of operations, the answers must equal those of the log in
 * memory.
 */
export const differentialContract = (logs: Logs): void => {
  describe(`${logs.name}: any sequence of operations`, () => {
    it('answers as the log in memory', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(operation, { minLength: 20, maxLength: 60 }), async (operations) => {
          const model = new MemoryLog()
          const log = await logs.open()
          for (const [index, step] of operations.entries()) {
            const head = await model.head()
            const act = actOf(step, head, index, await recordAt(model, step.at))
            const [expected, actual] = [await outcomeOf(act(model)), await outcomeOf(act(log))]
            expect(actual, JSON.stringify(step)).toEqual(expected)
          }
          await log.close()
        }),
        { numRuns: 6 },
      )
    })
  })
}

const operation = fc.record({
  kind: fc.constantFrom(
    ...([
      'append',
      'append',
      'append',
      'append-stale',
      'append-unlinked',
      'append-same-id',
      'read',
      'read',
      'read',
      'read-by-time',
      'count',
      'get',
      'find',
      'save-snapshot',
      'load-snapshot',
      'verify',
      'scan',
    ] as const),
  ),
  at: fc.nat(60),
  span: fc.nat(12),
  type: fc.constantFrom('signal.ta.v1', 'signal.ta.rsi.v1', 'signal.whale.v1', 'brain.cycle.v1', 'alert.one'),
  types: fc.option(
    fc.uniqueArray(fc.constantFrom('signal', 'signal.ta', 'signal.ta.rsi', 'brain', 'alert.one', 'none'), {
      maxLength: 3,
    }),
    { nil: undefined },
  ),
  about: fc.option(
    fc.constantFrom('symbol:BTC', 'symbol:ETH', 'order-1', 'trace:t', 'source:someone', 'none'),
    { nil: undefined },
  ),
  symbol: fc.constantFrom('BTC', 'eth', ''),
  source: fc.constantFrom('someone', 'else', null),
  order: fc.constantFrom('asc' as const, 'desc' as const),
  after: fc.option(fc.nat(60), { nil: undefined }),
  before: fc.option(fc.nat(60), { nil: undefined }),
  version: fc.constantFrom('v1', 'v2'),
})

type Operation = typeof operation extends fc.Arbitrary<infer Step> ? Step : never

/** Prepares one operation for both logs. Its records are created once, because their ids are random. */
const actOf = (
  step: Operation,
  head: Head,
  index: number,
  other: LogRecord | null,
): ((log: EventLog) => Promise<unknown>) => {
  const { at, span, order, after, before, types, about } = step
  const batchBehind = (behind: Head): readonly LogRecord[] =>
    recordsAfter(behind, span, (seq) => ({
      type: step.type,
      source: step.source,
      traceId: seq % 3 === 0 ? 't' : null,
      dedupeKey: seq % 2 === 0 ? `key-${seq}-${index}` : null,
      ts: timeAt((seq * 7919) % 50),
      payload: { symbol: step.symbol, order_id: `order-${at % 3}`, text: '€'.repeat(span) },
    }))
  switch (step.kind) {
    case 'append': {
      const batch = batchBehind(head)
      return (log) => log.append(batch, head)
    }
    case 'append-stale': {
      const stale = other === null ? { ...head, seq: head.seq + 1 } : headOf(other)
      const batch = batchBehind(stale)
      return (log) => log.append(batch, stale)
    }
    case 'append-unlinked': {
      const batch = batchBehind(head).map((record) => ({ ...record, seq: record.seq + 1 }))
      return (log) => log.append(batch, head)
    }
    case 'append-same-id': {
      const batch = batchBehind(head).map((record) => ({ ...record, id: other?.id ?? 'one' }))
      return (log) => log.append(batch, head)
    }
    case 'read': {
      const query = {
        order,
        limit: span,
        ...(after === undefined ? {} : { after }),
        ...(before === undefined ? {} : { before }),
        ...(types === undefined ? {} : { types }),
        ...(about === undefined ? {} : { about }),
      }
      return (log) => log.read(query)
    }
    case 'read-by-time':
      return (log) =>
        log.readByTime({ domain: at % 2 === 0 ? null : 'signal.ta', limit: span, offset: at >> 2 })
    case 'count':
      return async (log) => [
        await log.head(),
        await log.count(),
        await log.count('signal'),
        await log.count(step.type.split('.').slice(0, 2).join('.')),
        await log.countByDomain(),
      ]
    case 'get':
      return (log) => log.get(other?.id ?? 'unknown')
    case 'find':
      return (log) =>
        log.findByDedupeKeys([other?.dedupeKey ?? 'unknown', `key-${at}-${index - 1}`, 'unknown'])
    case 'save-snapshot':
      return (log) =>
        log.saveSnapshot({
          seq: at,
          chainHash: span === 0 ? sha256Hex('elsewhere') : (other?.hash ?? head.hash),
          stateVersion: step.version,
          stateHash: 'h',
          state: `${index}`,
          signature: 'a1'.repeat(64),
          signer: 'svc-1',
        })
    case 'load-snapshot':
      return (log) => log.loadSnapshot(step.version)
    case 'verify':
      return (log) => log.verifyHashes({ after: Math.min(at, head.seq), upTo: Math.max(at, head.seq) })
    case 'scan':
      return async (log) => {
        const pages: LogRecord[] = []
        for await (const page of log.scan({ after: at, upTo: at + span })) pages.push(...page)
        return pages
      }
  }
}

const recordAt = async (log: EventLog, seq: number): Promise<LogRecord | null> => {
  const [record] = await log.read({ after: seq - 1, order: 'asc', limit: 1 })
  return record ?? null
}

/** Compares failures as such, not by their messages. */
const outcomeOf = async (call: Promise<unknown>): Promise<unknown> => {
  try {
    return { resolved: await call }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return { rejected: error.name }
  }
}
