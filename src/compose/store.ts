import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { checkpointFile } from '../adapters/platform/checkpoint-file/checkpoint-file.ts'
import { logPins } from '../adapters/platform/identity/log-pins.ts'
import { createSecrets } from '../adapters/platform/vault/secrets.ts'
import { createVault } from '../adapters/platform/vault/vault.ts'
import { MemoryLog } from '../adapters/storage/memory/memory-log.ts'
import { memoryLeadership } from '../adapters/storage/memory/memory-leadership.ts'
import { MemoryStore } from '../adapters/storage/memory/memory-store.ts'
import { createSystemTimer } from '../adapters/platform/timer/system-timer.ts'
import { sqliteLeadership } from '../adapters/storage/sqlite/sqlite-leadership.ts'
import { openSqliteLog } from '../adapters/storage/sqlite/sqlite-log.ts'
import type { Configuration } from '../core/config/schema.ts'
import type { CheckpointStore } from '../ports/checkpoints.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { LeaseRecord, Leadership } from '../ports/leadership.ts'
import { SecretMissingError } from '../ports/secrets.ts'
import type { Timer } from '../ports/timer.ts'
import type { StoreSession } from '../surfaces/cli/dependencies.ts'
import type { Replay } from './replay.ts'
import type { RunningEngine } from './running-engine.ts'
import { knownSecretsOf, type Environment } from './environment.ts'
import { ownKey, pinFirst, trustOf } from './trust.ts'

export interface Store {
  readonly log: EventLog
  /** Null for a log in memory. */
  readonly checkpoints: CheckpointStore | null
  /** Decides which process leads on this log. */
  readonly leadership: Leadership
  /** Null for a log in memory, which no other process can write. */
  readonly lease: LeaseRecord | null
  /** Location of the log, without a password; null for a log in memory. */
  readonly place: string | null
}

/** Opens a log in memory. Nothing is written to disk. */
export const openMemoryStore = (): Store => {
  const store = new MemoryStore()
  const leadership = memoryLeadership(store)
  return { log: new MemoryLog(store), checkpoints: null, leadership, lease: null, place: null }
}

/** Opens SQLite in the home folder, or PostgreSQL if `store.url` names it. */
export const openStore = async (environment: Environment, { store }: Configuration): Promise<Store> => {
  const { home } = environment
  const leading = { replacedWithinMs: store.lease_seconds * 1000, timer: createSystemTimer() }
  const opened =
    store.url === ''
      ? await openSqlite(databasePath(home), leading)
      : await openPostgres(await urlWithPassword(store.url, environment), leading)
  return { ...opened, checkpoints: checkpointFile(checkpointPath(home, store)), place: placeOf(store) }
}

interface Leading {
  readonly replacedWithinMs: number
  readonly timer: Timer
}

type OpenedLog = Pick<Store, 'log' | 'leadership' | 'lease'>

const openSqlite = async (path: string, leading: Leading): Promise<OpenedLog> => {
  const log = await openSqliteLog({ path })
  const leadership = sqliteLeadership({ path, log, ...leading })
  return { log, leadership, lease: leadership }
}

/** The driver is loaded only where it is used. */
const openPostgres = async (url: string, leading: Leading): Promise<OpenedLog> => {
  const { openPostgresLog } = await import('../adapters/storage/postgres/postgres-log.ts')
  const { postgresLeadership } = await import('../adapters/storage/postgres/postgres-leadership.ts')
  const leadership = postgresLeadership({ url, ...leading })
  return { log: await openPostgresLog({ url }), leadership, lease: leadership }
}

/** True if anything was ever stored. Checkpoints without their database count. */
export const storeExists = (home: string, { store }: Configuration): boolean =>
  store.url !== '' || existsSync(databasePath(home)) || existsSync(checkpointPath(home, store))

/**
 * Location of a log that this home has written and that is gone. Null if the store exists, or if nothing was written.
 */
export const missingStore = async (home: string, configuration: Configuration): Promise<string | null> => {
  if (storeExists(home, configuration)) return null
  const place = placeOf(configuration.store)
  return (await logPins(home).read(place)) === null ? null : place
}

/** Takes the password from the secret `store.password` if the URL names only a user. */
export const urlWithPassword = async (text: string, environment: Environment): Promise<string> => {
  const url = new URL(text)
  if (url.username === '' || url.password !== '') return text
  const { home, clock, variables, masterPassword: password } = environment
  try {
    url.password = encodeURIComponent(
      await createSecrets(variables, createVault({ home, password, clock })).get('store.password'),
    )
    return url.href
  } catch (error) {
    // Many servers accept local users without a password.
    if (error instanceof SecretMissingError) return text
    throw error
  }
}

export const placeOf = ({ url }: Configuration['store']): string => {
  if (url === '') return 'data/events.db'
  const { host, pathname } = new URL(url)
  return host + pathname
}

export const databasePath = (home: string): string => join(home, 'data', 'events.db')

export const checkpointPath = (home: string, { url, checkpoint_file }: Configuration['store']): string => {
  if (checkpoint_file !== '') return resolve(home, checkpoint_file)
  if (url === '') return `${databasePath(home)}.checkpoints`
  // Named after the location of the log without the password, so that two logs never share a file.
  const { host, pathname } = new URL(url)
  return join(home, 'data', `postgres-${hash('sha256', host + pathname, 'hex').slice(0, 16)}.checkpoints`)
}

/** Opens the store for one command. A service may be running on it. */
export const openSession = async (
  environment: Environment,
  configuration: Configuration,
): Promise<StoreSession> => {
  return sessionOn(environment, configuration, await openStore(environment, configuration))
}

/** Opens a session on an open store. */
export const sessionOn = async (
  environment: Environment,
  configuration: Configuration,
  store: Store,
): Promise<StoreSession> => {
  let running: Promise<RunningEngine> | null = null
  let replay: Promise<Replay | null> | null = null
  const openedReplay = (): Promise<Replay | null> => (replay ??= replayIn(environment, configuration, store))
  const open = (): Promise<RunningEngine> =>
    (running ??= openedReplay().then((opened) => openEngine(environment, configuration, store, opened)))
  return {
    log: store.log,
    checkpoints: store.checkpoints,
    lease: store.lease,
    pinLog: async () => {
      // An identity that ends with its process pins no logs.
      const isSaved = (await ownKey(environment.home)) !== null
      if (store.place !== null && isSaved) await pinFirst(store.log, environment.home, store.place)
    },
    trust: await trustOf(environment.home, await ownKey(environment.home), store.place),
    present: async () => {
      const opened = await openedReplay()
      return {
        clock: opened?.clock ?? environment.clock,
        configuration: opened?.settings(configuration) ?? configuration,
      }
    },
    openEngine: async () => (await open()).engine,
    signCheckpoint: async () => (await open()).signCheckpoint(),
    [Symbol.asyncDispose]: async () => {
      // An engine that failed to open has reported its error to the caller. Throwing it again here would hide that
      // error.
      const opened = await running?.catch(() => null)
      await opened?.close()
      await store.leadership.close()
      await store.log.close()
    },
  }
}

/** The engine is loaded only here: commands that only read the log start faster without it. */
const openEngine = async (
  environment: Environment,
  configuration: Configuration,
  store: Store,
  replay: Replay | null,
): Promise<RunningEngine> => {
  const { createLogger } = await import('../adapters/platform/logger/logger.ts')
  const { openRunningEngine } = await import('./running-engine.ts')
  const settings = replay?.settings(configuration) ?? configuration
  return openRunningEngine({
    environment,
    clock: replay?.clock,
    configuration: settings,
    settings: () => settings,
    store,
    // A single command logs errors only.
    logger: createLogger({
      level: 'ERROR',
      jsonOutput: false,
      secrets: knownSecretsOf(environment, configuration),
      clock: environment.clock,
      ...(environment.writeLog === undefined ? {} : { write: environment.writeLog, terminal: false }),
    }),
    announce: 'if-unknown',
  })
}

/** Where a file is replayed, commands read and take effect at the time that the replay has reached; null elsewhere. */
const replayIn = async (
  { home }: Environment,
  configuration: Configuration,
  { log }: Store,
): Promise<Replay | null> => {
  if (configuration.market.feed !== 'file') return null
  const { openReplay, ReplayRefusedError } = await import('./replay.ts')
  try {
    return await openReplay(home, configuration, log)
  } catch (error) {
    // The service refuses to start, but a command may be needed for the repair.
    if (error instanceof ReplayRefusedError) return null
    throw error
  }
}
