import { randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import {
  TargetInUseError,
  TargetTakenError,
  type TargetContent,
  type LogDraft,
  type LogTarget,
} from '../../../ports/log-target.ts'
import { exists, syncFolderOf } from '../../files.ts'
import {
  connectImmutable,
  connectNew,
  firstRow,
  isBusyError,
  isSqliteError,
  lockAlone,
  prepare,
  prepareRows,
  unavailable,
  type Database,
} from './database.ts'
import { Records } from './records.ts'
import { isOurs, SCHEMA } from './schema.ts'
import { prepareTreeNodes } from './tree.ts'
import { EventWriter, NEWEST_LEADER } from './writer.ts'

/** The file of a log as the target of a copy. */
export const sqliteTarget = ({ path }: { readonly path: string }): LogTarget => ({
  look: async () => {
    const { found, lock } = await lookAlone(path)
    lock?.close()
    return found
  },
  draft: (options) => openDraft(path, options),
})

/** The content of the path and a lock on it. The lock is null if there is no file that could be locked. */
const lookAlone = async (
  path: string,
): Promise<{ readonly found: TargetContent; readonly lock: Database | null }> => {
  if (!(await exists(path))) return { found: { status: 'empty' }, lock: null }
  let lock: Database | null = null
  try {
    lock = lockAlone(path)
    return { found: readFound(path), lock }
  } catch (error) {
    lock?.close()
    if (isBusyError(error)) throw new TargetInUseError(`another process has ${path} open`)
    return { found: { status: 'unreadable', why: unavailable('read', path, error).message }, lock: null }
  }
}

const readFound = (path: string): TargetContent => {
  const db = connectImmutable(path)
  try {
    if (!isOurs(db)) return { status: 'empty' }
    const first = firstRow(prepareRows(db, 'SELECT hash FROM events ORDER BY seq LIMIT 1'))
    if (first === undefined) return { status: 'empty' }
    return { status: 'log', head: new Records(db).head(), firstHash: String(first[0]) }
  } finally {
    db.close()
  }
}

const newestLeaderAt = (path: string): number => {
  const db = connectImmutable(path)
  try {
    const tables = prepareRows(db, `SELECT count(*) FROM sqlite_schema WHERE name = 'leaders'`)
    if (firstRow(tables)?.[0] !== 1) return 0
    return Number(firstRow(prepareRows(db, NEWEST_LEADER))?.[0] ?? 0)
  } finally {
    db.close()
  }
}

/**
 * Fills a file beside the log, then renames it to the log's name. A crash leaves a file with another name, which is
 * never opened as a log.
 */
const openDraft = async (
  path: string,
  { replace, at }: { readonly replace: boolean; readonly at: string },
): Promise<LogDraft> => {
  const { found, lock } = await lookAlone(path)
  const draftPath = `${path}.${randomUUID()}.partial`
  let db: Database | null = null
  const discard = async (): Promise<void> => {
    if (db?.isOpen === true) db.close()
    if (lock?.isOpen === true) lock.close()
    await rm(draftPath, { force: true })
  }
  try {
    if (found.status !== 'empty' && !replace) throw new TargetTakenError(`${path} is not empty`)
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    // Created with access for its owner only.
    await (await open(draftPath, 'wx', 0o600)).close()
    db = connectNew(draftPath)
    db.exec(SCHEMA)
    // Tokens are never reused, even if events are lost.
    const token = found.status === 'log' ? newestLeaderAt(path) : 0
    if (token > 0) prepare(db, 'INSERT INTO leaders VALUES (?, ?)').run(token, '')
    return draftIn(db, draftPath, {
      discard,
      install: async () => {
        await syncFile(draftPath)
        const replaced = await setAside(path, at)
        await rename(draftPath, path)
        await syncFolderOf(path)
        await discard()
        return { replaced: found.status === 'empty' ? null : replaced }
      },
    })
  } catch (error) {
    await discard()
    throw isSqliteError(error) ? unavailable('write to', draftPath, error) : error
  }
}

const draftIn = (
  db: Database,
  path: string,
  { install, discard }: Pick<LogDraft, 'install' | 'discard'>,
): LogDraft => {
  const reported = <Result>(work: () => Result): Result => {
    try {
      return work()
    } catch (error) {
      throw isSqliteError(error) ? unavailable('write to', path, error) : error
    }
  }
  const writer = new EventWriter(db)
  const treeNodes = prepareTreeNodes(db)
  const stored = new Records(db)
  return {
    append: async (records, expected) => {
      const { status } = reported(() => writer.append(records, expected, null))
      if (status !== 'appended') throw new Error('a draft has one writer')
    },
    head: async () => reported(() => stored.head()),
    treeNodes: async (range) => reported(() => treeNodes(range)),
    install: () => {
      db.close()
      return install()
    },
    discard,
  }
}

/**
 * A file that could be locked has no journal. A file that cannot be read may be worthless without its journal, so the
 * journal is moved along under the matching name. The same holds for the head file.
 */
const setAside = async (path: string, at: string): Promise<string | null> => {
  const aside = `${path}.replaced-${at.replaceAll(/[^0-9A-Za-z]/g, '')}`
  let isMoved = false
  for (const suffix of ['', '-wal', '-shm', '.head']) {
    if (!(await exists(path + suffix))) continue
    await rename(path + suffix, aside + suffix)
    isMoved = true
  }
  return isMoved ? aside : null
}

const syncFile = async (path: string): Promise<void> => {
  await using file = await open(path, 'r')
  await file.sync()
}
