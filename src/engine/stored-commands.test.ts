import { DatabaseSync } from '@photostructure/sqlite'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { busyDay, configurationWith, rewritten, simulateDay } from '../../test/simulated-day.fixture.ts'
import { testClock, testSigner } from '../../test/signer.fixture.ts'
import { signatures } from '../adapters/platform/signatures/signatures.ts'
import { openSqliteLog, type SqliteLog } from '../adapters/storage/sqlite/sqlite-log.ts'
import type { LogRecord } from '../core/log/event.ts'
import { nodeId } from '../core/shared/brand.ts'
import type { EventLog } from '../ports/event-log.ts'
import { auditDecisions } from './audit/audit-decisions.ts'
import type { Engine } from './engine.ts'
import { openEngine, registration, set } from './engine.fixture.ts'

let folder: string
const opened: EventLog[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stored-commands-'))
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((log) => log.close()))
  await rm(folder, { recursive: true, force: true })
})

const openLog = async (name: string): Promise<SqliteLog> => {
  const log = await openSqliteLog({ path: join(folder, name) })
  opened.push(log)
  return log
}

const closeLog = async (log: EventLog): Promise<void> => {
  opened.splice(opened.indexOf(log), 1)
  await log.close()
}

const recordsIn = (log: EventLog): Promise<readonly LogRecord[]> => log.read({ order: 'asc', limit: 100_000 })

const sizeOf = (name: string): number => {
  const db = new DatabaseSync(join(folder, name))
  db.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
  const size = db
    .prepare('SELECT page_count * page_size AS size FROM pragma_page_count, pragma_page_size')
    .get()
  db.close()
  return (size as { size: number }).size
}

/** Bytes of the stored log, divided by those of the same log without commands. */
const growthOf = async (log: EventLog): Promise<number> => {
  const records = await recordsIn(log)
  for (const [name, stored] of [
    ['with.db', records],
    ['without.db', records.map((record) => ({ ...record, commands: null }))],
  ] as const) {
    const copy = await openLog(name)
    for (let from = 0; from < stored.length; from += 500)
      await copy.append(stored.slice(from, from + 500), await copy.head())
    await closeLog(copy)
  }
  return sizeOf('with.db') / sizeOf('without.db')
}

const submitAll = async (engine: Engine, count: number): Promise<void> => {
  const node = nodeId('svc-0123456789abcdef')
  const contributor = { nodeId: node, name: 'Ann', role: 'curator', metadata: {}, publicKey: undefined }
  await engine.execute({
    kind: 'register-contributor',
    registration: contributor,
    surface: 'api',
    isOperator: true,
  })
  for (let number = 1; number <= count; number += 1) {
    const payload = {
      symbol: ['BTC', 'ETH', 'SOL'][number % 3] ?? '',
      direction: number % 2 === 0 ? 'bullish' : 'bearish',
      conviction: number % 10,
      rationale: `Funding fell for the ${number}th hour while the price held, so shorts pay to stay.`,
    }
    const outcome = await engine.execute(
      {
        kind: 'submit-signal',
        submission: {
          eventType: 'signal.curator.v1',
          nodeId: node,
          ts: null,
          source: 'operator:telegram',
          payload,
          dedupeKey: `7f0c2a9e-5b1d-4c3a-9e8f-${String(number).padStart(12, '0')}`,
        },
      },
      {
        traceId: `01998f00-0000-7000-8000-${String(number).padStart(12, '0')}`,
        alongside: {
          kind: 'record-access',
          surface: 'api',
          entry: {
            resource: 'POST /api/v1/signals/submit',
            action: 'write',
            outcome: 'allowed',
            reason: null,
            request_id: `01998f00-0000-7000-8000-${String(number).padStart(12, '0')}`,
          },
        },
      },
    )
    expect(outcome.status).toBe('done')
  }
}

describe('stored commands', () => {
  it('add at most a fifth to the bytes of submissions, each in a batch of its own', async () => {
    const log = await openLog('submissions.db')
    const engine = await openEngine(log)
    await submitAll(engine, 100)
    await engine.close()
    expect((await recordsIn(log)).filter(({ commands }) => commands !== null)).toHaveLength(101)
    expect(await growthOf(log)).toBeLessThanOrEqual(1.2)
  })

  it('add at most a fifth to the bytes of a simulated market', async () => {
    const { log } = await simulateDay({ hours: 1, act: busyDay })
    const records = await recordsIn(log)
    expect(records.length).toBeGreaterThan(500)
    expect(await growthOf(log)).toBeLessThanOrEqual(1.2)
  })
})

describe('a log of a release that did not store commands', () => {
  it('opens, verifies and continues; the audit counts what it cannot repeat', async () => {
    const signer = testSigner()
    const options = { signer, trust: { signatures, own: signer, firstHash: null } }
    const older = await openLog('events.db')
    const before = await openEngine(older, options)
    for (const name of ['one', 'two', 'three']) await before.execute(registration(name))
    await before.close()
    const signed = await rewritten(older, signer, () => null, { withCommands: false })
    await closeLog(older)
    const records = await recordsIn(signed)
    expect(records.every(({ commands }) => commands === null)).toBe(true)
    await rm(join(folder, 'events.db'))
    const filled = await openLog('events.db')
    await filled.append(records, await filled.head())
    await closeLog(filled)
    const db = new DatabaseSync(join(folder, 'events.db'))
    db.exec(`ALTER TABLE events DROP COLUMN commands; UPDATE meta SET v = '4' WHERE k = 'format_version'`)
    db.close()
    const log = await openLog('events.db')
    const unsigned: LogRecord[] = []
    const engine = await openEngine(log, { ...options, onUnsigned: (some) => unsigned.push(...some) })
    expect([...engine.state.signals.producers.registered.keys()]).toEqual(['one', 'two', 'three'])
    expect(unsigned).toEqual([])
    await engine.execute(set(2))
    await engine.close()
    const report = await auditDecisions(log, {
      trust: options.trust,
      configuration: configurationWith({}),
      version: 'unknown',
      from: null,
      to: null,
      onProgress: () => undefined,
    })
    expect(report).toMatchObject({
      ok: true,
      batches: 1,
      batches_without_commands: 3,
      not_rerun: { 'stored without its command': 3 },
      findings: [],
    })
  })

  it('is not what a log becomes by removing or changing its commands', async () => {
    const signer = testSigner()
    const options = { signer, trust: { signatures, own: signer, firstHash: null } }
    const log = await openLog('events.db')
    const engine = await openEngine(log, options)
    await engine.execute(registration('one'))
    await engine.execute(registration('two'))
    await engine.close()
    const records = await recordsIn(log)
    const [first, second] = records as [LogRecord, LogRecord]
    for (const commands of [null, `${second.commands} `, first.commands]) {
      const changed = await openLog(`${String(commands).length}.db`)
      await changed.append([first, { ...second, commands }], await changed.head())
      const unsigned: number[] = []
      const reader = await openEngine(changed, {
        ...options,
        clock: testClock(),
        onUnsigned: (some) => unsigned.push(...some.map(({ seq }) => seq)),
      })
      expect(unsigned).toEqual([2])
      await reader.close()
    }
  })
})
