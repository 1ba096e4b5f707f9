import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { checkpointFile } from '../adapters/platform/checkpoint-file/checkpoint-file.ts'
import { createSecrets } from '../adapters/platform/vault/secrets.ts'
import { createVault } from '../adapters/platform/vault/vault.ts'
import { MemoryLog } from '../adapters/storage/memory/memory-log.ts'
import { soleLeadership } from '../adapters/storage/memory/sole-leadership.ts'
import { sqliteLeadership } from '../adapters/storage/sqlite/sqlite-leadership.ts'
import { openSqliteLog } from '../adapters/storage/sqlite/sqlite-log.ts'
import type { Configuration } from '../core/config/schema.ts'
import type { CheckpointStore } from '../ports/checkpoints.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { Leadership } from '../ports/leadership.ts'
import { SecretMissingError } from '../ports/secrets.ts'
import type { Environment } from './environment.ts'

export interface Store {
  readonly log: EventLog
  /** Null in memory: what is forgotten needs no proof. */
  readonly checkpoints: CheckpointStore | null
  /** Which of the processes on this log makes it move. */
  readonly leadership: Leadership
}

/** Nothing is written anywhere: for a look around. */
export const openMemoryStore = (): Store => ({
  log: new MemoryLog(),
  checkpoints: null,
  leadership: soleLeadership(),
})

/** SQLite in the home folder, or PostgreSQL where `store.url` names one. */
export const openStore = async (surroundings: Environment, { store }: Configuration): Promise<Store> => {
  const { home } = surroundings
  const opened =
    store.url === ''
      ? await openSqlite(databasePath(home))
      : await openPostgres(await urlWithPassword(store.url, surroundings))
  return { ...opened, checkpoints: checkpointFile(checkpointPath(home, store)) }
}

const openSqlite = async (path: string): Promise<Omit<Store, 'checkpoints'>> => ({
  log: await openSqliteLog({ path }),
  leadership: sqliteLeadership({ path }),
})

/** The driver is fetched only where it is used. */
const openPostgres = async (url: string): Promise<Omit<Store, 'checkpoints'>> => {
  const { openPostgresLog } = await import('../adapters/storage/postgres/postgres-log.ts')
  const { postgresLeadership } = await import('../adapters/storage/postgres/postgres-leadership.ts')
  return { log: await openPostgresLog({ url }), leadership: postgresLeadership({ url }) }
}

/** Whether something was ever stored here; checkpoints whose database is gone count. */
export const storeExists = (home: string, { store }: Configuration): boolean =>
  store.url !== '' || existsSync(databasePath(home)) || existsSync(checkpointPath(home, store))

/** A password need not stand in the URL: the secret `store.password` is used where it names a user only. */
const urlWithPassword = async (text: string, surroundings: Environment): Promise<string> => {
  const url = new URL(text)
  if (url.username === '' || url.password !== '') return text
  const { home, clock, environment, masterPassword: password } = surroundings
  try {
    url.password = encodeURIComponent(
      await createSecrets(environment, createVault({ home, password, clock })).get('store.password'),
    )
    return url.href
  } catch (error) {
    // Many servers let a local user in without one.
    if (error instanceof SecretMissingError) return text
    throw error
  }
}

const databasePath = (home: string): string => join(home, 'data', 'events.db')

const checkpointPath = (home: string, { url, checkpoint_file }: Configuration['store']): string => {
  if (checkpoint_file !== '') return checkpoint_file
  if (url === '') return `${databasePath(home)}.checkpoints`
  // Named after where the log is, without the password, so that two logs never share a file.
  const { host, pathname } = new URL(url)
  return join(home, 'data', `postgres-${hash('sha256', host + pathname, 'hex').slice(0, 16)}.checkpoints`)
}
