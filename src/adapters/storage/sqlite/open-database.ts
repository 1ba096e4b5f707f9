import { access, constants, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { StoreUnavailableError } from '../../../ports/event-log.ts'
import {
  BUSY_TIMEOUT_MS,
  connect,
  isBusyError,
  isSqliteError,
  unavailable,
  type Database,
} from './database.ts'
import { ensureSchema } from './schema.ts'

/** A connection for reading, to a file that was made if it was missing and is known to be ours. */
export const openDatabase = async (path: string): Promise<Database> => {
  try {
    await mkdir(dirname(path), { recursive: true })
    await assertWritable(path)
    return await whileBusy(() => makeReady(path))
  } catch (error) {
    if (isSqliteError(error)) throw unavailable('open', path, error)
    throw new StoreUnavailableError(
      `cannot open ${path}: ${error instanceof Error ? error.message : String(error)}`,
      {
        cause: error,
      },
    )
  }
}

/**
 * The connection that sets up prepares no statement: the driver cannot end one, and a connection with a statement lives
 * on after `close` until both are collected. If it were the last one then, it would empty the journal and delete it by
 * name, while somebody else may have put another file there or be copying this one.
 */
const makeReady = (path: string): Database => {
  const setup = connect(path, 'write')
  try {
    // Opened while the other is: the last connection that closes would have to empty the journal first.
    const db = connect(path, 'read')
    try {
      ensureSchema(setup, db)
    } catch (error) {
      db.close()
      throw error
    }
    return db
  } finally {
    setup.close()
  }
}

/** SQLite opens a file that it may not write to for reading, and says so only at the first write. */
const assertWritable = async (path: string): Promise<void> => {
  try {
    await access(path, constants.R_OK | constants.W_OK)
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOENT') throw error
    await access(dirname(path), constants.W_OK)
  }
}

/** Processes that make the same file at once get in each other's way without waiting for the lock. */
const whileBusy = async <Result>(attempt: () => Result): Promise<Result> => {
  const giveUpAt = performance.now() + BUSY_TIMEOUT_MS
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusyError(error) || performance.now() > giveUpAt) throw error
      await setTimeout(ATTEMPT_EVERY_MS)
    }
  }
}

const ATTEMPT_EVERY_MS = 20
