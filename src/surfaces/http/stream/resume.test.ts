import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recordsAfter } from '../../../../test/records.fixture.ts'
import { MemoryLog } from '../../../adapters/storage/memory/memory-log.ts'
import { MemoryStore } from '../../../adapters/storage/memory/memory-store.ts'
import { categoryOf, type LogRecord } from '../../../core/log/event.ts'
import type { KillSwitchLevel } from '../../../core/shared/level.ts'
import type { EventLog } from '../../../ports/event-log.ts'
import { startTestServer, type TestServer } from '../test-server.fixture.ts'
import { filterOf } from './frames.ts'
import { connectClient, type ConnectOptions } from './stream-client.fixture.ts'

interface Hop {
  /** Messages to read before it hangs up. */
  readonly messages: number
  readonly comeBackWith: 'since' | 'lastEventId'
}

interface Visitor {
  readonly domain: string
  readonly hops: readonly Hop[]
}

const hop = fc.record<Hop>({
  messages: fc.integer({ min: 1, max: 40 }),
  comeBackWith: fc.constantFrom('since', 'lastEventId'),
})
const visitor = fc.record<Visitor>({
  domain: fc.constantFrom('', 'signal', 'alert', 'system,alert', 'signal,alert,system', 'learning'),
  hops: fc.array(hop, { maxLength: 6 }),
})
const limits = fc.record({
  recentEventsMax: fc.constantFrom(1, 7, 50, 1000),
  recentBytesMax: fc.constantFrom(2000, 1_000_000),
  writeBytesMax: fc.constantFrom(1, 1000, 100_000),
  pageEvents: fc.constantFrom(1, 10, 500),
  sliceMs: fc.constantFrom(0, 1000),
})
const foreignBatches = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 15 })

/** Another process: it appends where the head is, and again where it moved meanwhile. */
const appendForeign = async (log: EventLog, count: number): Promise<void> => {
  for (;;) {
    const head = await log.head()
    const records = recordsAfter(head, count, (seq) => ({
      type: ['signal.a.v1', 'alert.b', 'signal.c.v1', 'trace.d.v1'][seq % 4] ?? 'signal.a.v1',
      recordedAt: head.recordedAt,
    }))
    await new Promise((resolve) => setImmediate(resolve))
    if ((await log.append(records, head)).status === 'appended') return
  }
}

const writeOwn = async ({ engine }: TestServer, count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) {
    const level = (turn % 4) as KillSwitchLevel
    const move = { level, reason: `turn ${turn}`, operator: 'svc-1', surface: 'api' } as const
    await engine.execute({ kind: 'set-kill-switch', move })
  }
}

interface Writing {
  isDone(): boolean
  onDone(listener: () => void): void
}

/** Runs what writes, and can be asked whether it is over. */
const follow = (work: Promise<unknown>): Writing & { readonly done: Promise<void> } => {
  const listeners: (() => void)[] = []
  let isDone = false
  const finish = async (): Promise<void> => {
    await work
    isDone = true
    for (const listener of listeners) listener()
  }
  return { isDone: () => isDone, onDone: (listener) => listeners.push(listener), done: finish() }
}

const wantedOf = (records: readonly LogRecord[], domain: string): readonly string[] => {
  const { wants } = filterOf(domain)
  return records.filter(({ type }) => wants(categoryOf(type))).map(({ id }) => id)
}

/** Everything that a visitor receives from the first event on, over all its visits. */
const receive = async (
  server: TestServer,
  { domain, hops }: Visitor,
  writing: Writing,
): Promise<readonly string[]> => {
  const received: string[] = []
  const stored = async (): Promise<readonly LogRecord[]> => server.log.read({ order: 'asc', limit: 100_000 })
  const firstId = (await stored())[0]?.id ?? ''
  let comeBackWith: Hop['comeBackWith'] = 'since'
  const visit = async (isEnough: (received: number) => boolean): Promise<void> => {
    const last = received.at(-1)
    const from: ConnectOptions =
      last === undefined
        ? { since: firstId }
        : comeBackWith === 'since'
          ? { since: last }
          : { lastEventId: last }
    const client = await connectClient(server, { domain, ...from })
    // The event of `since` itself is sent again.
    const known = last !== undefined && comeBackWith === 'since' ? 1 : 0
    writing.onDone(() => client.recheck())
    await client.until(() => writing.isDone() || isEnough(client.messages.length - known))
    if (writing.isDone()) {
      const newest = wantedOf(await stored(), domain).at(-1)
      const isComplete = (): boolean =>
        client.messages.length >= known && (client.messages.at(-1)?.id ?? last) === newest
      await client.until(isComplete)
    }
    client.close()
    const ids = client.messages.map(({ id }) => id)
    if (known === 1) expect(ids[0]).toBe(last)
    received.push(...ids.slice(known))
  }
  for (const next of hops) {
    await visit((count) => count >= next.messages)
    comeBackWith = next.comeBackWith
  }
  await visit(() => false)
  return received
}

describe('a client that comes and goes while events are written', () => {
  it('receives each event that it wants exactly once, in order', async () => {
    await fc.assert(
      fc.asyncProperty(
        limits,
        fc.array(visitor, { minLength: 1, maxLength: 5 }),
        foreignBatches,
        fc.nat(30),
        async (streamLimits, visitors, batches, commands) => {
          const store = new MemoryStore()
          const server = await startTestServer({ log: new MemoryLog(store), streamLimits })
          const neighbour = new MemoryLog(store)
          try {
            const foreign = async (): Promise<void> => {
              for (const count of batches) await appendForeign(neighbour, count)
            }
            const newcomer = await connectClient(server)
            const before = await server.log.head()
            const writing = follow(Promise.all([foreign(), writeOwn(server, commands)]))
            const received = await Promise.all(visitors.map((each) => receive(server, each, writing)))
            await writing.done
            const stored = await server.log.read({ order: 'asc', limit: 100_000 })
            for (const [index, { domain }] of visitors.entries())
              expect(received[index]).toEqual(wantedOf(stored, domain))
            await newcomer.until(() => newcomer.messages.at(-1)?.id === stored.at(-1)?.id)
            expect(newcomer.messages.map(({ id }) => id)).toEqual(
              stored.filter(({ seq }) => seq > before.seq).map(({ id }) => id),
            )
            newcomer.close()
            expect(server.logLines.filter((line) => /"level":"(?:warn|error)/i.test(line))).toEqual([])
          } finally {
            await server.close()
          }
        },
      ),
      { numRuns: 15 },
    )
  })
})
