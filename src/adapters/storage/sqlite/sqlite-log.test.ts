import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, beforeAll } from 'vitest'
import { eventLogContract, type Tampering } from '../../../ports/event-log.contract.ts'
import type { LogRecord } from '../../../core/log/event.ts'
import type { EventLog } from '../../../ports/event-log.ts'
import { openSqliteLog } from './sqlite-log.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sqlite-log-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const paths = new Map<EventLog, string>()

const openAt = async (path: string): Promise<EventLog> => {
  const log = await openSqliteLog({ path })
  paths.set(log, path)
  return log
}

const pathOf = (log: EventLog): string => {
  const path = paths.get(log)
  if (path === undefined) throw new Error('a log of another test')
  return path
}

eventLogContract('sqlite', {
  open: () => openAt(join(folder, String(paths.size), 'events.db')),
  reopen: async (log) => {
    await log.close()
    return openAt(pathOf(log))
  },
  second: (log) => openAt(pathOf(log)),
  manyKeys: 70_000,
  tamper: async (log, change) => tamper(pathOf(log), change),
})

/** Changes the file as an attacker with a database tool could. */
const tamper = (path: string, change: Tampering): void => {
  const db = new DatabaseSync(path, { timeout: 5000 })
  db.exec(
    'DROP TRIGGER IF EXISTS events_no_update; DROP TRIGGER IF EXISTS events_no_delete; DROP INDEX IF EXISTS events_dedupe_key',
  )
  switch (change.kind) {
    case 'change':
      for (const [member, value] of Object.entries(change.columns)) {
        const column = COLUMNS[member as keyof typeof change.columns]
        db.prepare(`UPDATE events SET ${column} = ? WHERE seq = ?`).run(value, change.seq)
      }
      break
    case 'delete':
      db.prepare('DELETE FROM events WHERE seq = ?').run(change.seq)
      break
    case 'renumber':
      db.prepare('UPDATE events SET seq = ? WHERE seq = ?').run(change.to, change.seq)
      break
  }
  db.close()
}

const COLUMNS: Readonly<Record<keyof Omit<LogRecord, 'seq'>, string>> = {
  id: 'id',
  type: 'type',
  ts: 'ts',
  schemaVersion: 'schema_version',
  source: 'source',
  traceId: 'trace_id',
  dedupeKey: 'dedupe_key',
  payload: 'payload',
  batchSignature: 'batch_signature',
  commands: 'commands',
  prevHash: 'prev_hash',
  hash: 'hash',
  signature: 'signature',
  signer: 'signer',
  recordedAt: 'recorded_at',
}
