import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { readFile, readlink, rename, rm, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import type { LeaseRecord, Leadership } from '../../../ports/leadership.ts'
import type { Timer } from '../../../ports/timer.ts'
import { isRunning } from '../../file-lock.ts'
import { jsonIn, NO_LINK_NO_WAIT, orNull } from '../../files.ts'
import { keepLease, readClocks, validMsOf } from '../../lease.ts'
import { connect, firstRow, prepare, prepareRows, type Database } from './database.ts'
import type { SqliteLog } from './sqlite-log.ts'

export interface SqliteLeadershipOptions {
  /** Path of the log. The heartbeat is a file beside it: a database write every second would cost a sync each. */
  readonly path: string
  readonly log: Pick<SqliteLog, 'newestLeader' | 'lead'>
  /** Time within which a leader that stands still is replaced. */
  readonly replacedWithinMs: number
  readonly timer: Timer
}

/**
 * The token is a row of the database. The heartbeat is a counter in a file. A waiting process measures by its own clock
 * how long the counter stands still, so no two clocks are compared. A leader whose process has ended is replaced at
 * once.
 */
export const sqliteLeadership = ({
  path,
  log,
  replacedWithinMs,
  timer,
}: SqliteLeadershipOptions): Leadership & LeaseRecord => {
  const validMs = validMsOf(replacedWithinMs)
  const file = `${path}.leader`
  let seen: { readonly text: string; readonly sinceMs: number } | null = null

  const isOver = async (token: number): Promise<boolean> => {
    const heartbeat = await readHeartbeat(file)
    if (heartbeat?.token === token && (heartbeat.isReleased || (await isGone(heartbeat)))) return true
    // A heartbeat with another token shows nothing about this leader.
    const text = heartbeat?.token === token ? JSON.stringify(heartbeat) : `no heartbeat of ${token}`
    if (seen?.text !== text) seen = { text, sinceMs: performance.now() }
    return performance.now() - seen.sinceMs >= validMs
  }

  return {
    tryToLead: async (above) => {
      const before = await log.newestLeader()
      if (before > 0 && !(await isOver(before))) return null
      const holder = await ownProcess()
      const token = await log.lead({ after: before, above, holder: JSON.stringify(holder) })
      if (token === null) return null
      // Other processes count from the first heartbeat.
      const takenAt = readClocks()
      let count = 0
      const write = async (isReleased: boolean): Promise<boolean> => {
        if ((await log.newestLeader()) !== token) return false
        await writeHeartbeat(file, { token, count, isReleased, ...holder })
        count += 1
        return true
      }
      if (!(await write(false))) return null
      const giveUp = async (): Promise<void> => void (await write(true))
      return keepLease({ token, takenAt, validMs, timer, renew: () => write(false), giveUp })
    },
    stored: async () => {
      const token = withDatabase(path, 'read', (db) => Number(firstRow(prepareRows(db, LARGEST_TOKEN))?.[0]))
      // Other processes measure the lease themselves. It never expires only where no heartbeat can be written.
      const isUsable = (await orNull('ENOENT', stat(file)))?.isFile() ?? true
      return { token, endsInMs: isUsable ? 0 : Number.POSITIVE_INFINITY }
    },
    reset: async (token) => {
      withDatabase(path, 'write', (db) => prepare(db, 'DELETE FROM leaders WHERE token > ?').run(token))
      await rm(file, { recursive: true, force: true })
    },
    close: () => Promise.resolve(),
  }
}

const withDatabase = <Result>(
  path: string,
  mode: 'read' | 'write',
  use: (db: Database) => Result,
): Result => {
  const db = connect(path, mode)
  try {
    return use(db)
  } finally {
    db.close()
  }
}

/** Reads the token as a floating-point number: the driver refuses integers beyond 2^53. */
const LARGEST_TOKEN = 'SELECT CAST(coalesce(max(token), 0) AS REAL) FROM leaders'

interface Process {
  readonly host: string
  /** Namespace in which the process ids are valid. */
  readonly namespace: string
  readonly pid: number
  readonly id: string
}

interface Heartbeat extends Process {
  readonly token: number
  readonly count: number
  readonly isReleased: boolean
}

const PROCESS_ID = randomUUID()

const ownProcess = async (): Promise<Process> => ({
  host: hostname(),
  // Only Linux has process namespaces.
  namespace: await readlink('/proc/self/ns/pid').catch(() => ''),
  pid: process.pid,
  id: PROCESS_ID,
})

/** True only for processes of this machine. A process whose id was reused counts as alive. */
const isGone = async ({ host, namespace, pid, id }: Process): Promise<boolean> => {
  const own = await ownProcess()
  if (host !== own.host || namespace !== own.namespace || id === own.id) return false
  if (pid === own.pid) return true
  return !isRunning(pid)
}

/** Null if there is no readable heartbeat: then it is unknown whether the leader is alive. */
const readHeartbeat = async (file: string): Promise<Heartbeat | null> => {
  // A pipe in its place is opened without waiting for a writer, and is empty.
  const flag = constants.O_RDONLY | NO_LINK_NO_WAIT
  const read = jsonIn(await readFile(file, { encoding: 'utf8', flag }).catch(() => ''))
  return isHeartbeat(read) ? read : null
}

const isHeartbeat = (read: unknown): read is Heartbeat =>
  typeof read === 'object' &&
  read !== null &&
  'token' in read &&
  'pid' in read &&
  typeof read.pid === 'number' &&
  'isReleased' in read

const writeHeartbeat = async (file: string, heartbeat: Heartbeat): Promise<void> => {
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, JSON.stringify(heartbeat), { mode: 0o600 })
  await rename(draft, file)
}
