import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { EMPTY_HEAD, type Head } from '../../../core/log/event.ts'
import { TargetTakenError, type Found, type LogDraft, type LogTarget } from '../../../ports/log-target.ts'
import {
  connectImmutable,
  connectNew,
  emptyJournal,
  firstRow,
  isSqliteError,
  prepareRows,
  unavailable,
} from './database.ts'
import { isOurs, SCHEMA } from './schema.ts'
import { prepareTreeNodes } from './tree.ts'
import { EventWriter } from './writer.ts'

/** The file of a log as the place for a copy of one. The caller makes sure that no process writes to it. */
export const sqliteTarget = ({ path }: { readonly path: string }): LogTarget => ({
  look: () => look(path),
  draft: (options) => openDraft(path, options),
})

const look = async (path: string): Promise<Found> => {
  if (!(await exists(path))) return { status: 'empty' }
  try {
    emptyJournal(path)
    const db = connectImmutable(path)
    try {
      if (!isOurs(db)) return { status: 'empty' }
      const first = firstRow(prepareRows(db, 'SELECT hash FROM events ORDER BY seq LIMIT 1'))
      const last = firstRow(
        prepareRows(db, 'SELECT seq, hash, recorded_at FROM events ORDER BY seq DESC LIMIT 1'),
      )
      if (first === undefined || last === undefined) return { status: 'empty' }
      const [seq, hash, recordedAt] = last as readonly [number, string, string]
      return { status: 'log', head: { seq, hash, recordedAt }, firstHash: String(first[0]), isInUse: false }
    } finally {
      db.close()
    }
  } catch (error) {
    return { status: 'unreadable', why: unavailable('read', path, error).message }
  }
}

/**
 * Filled beside the log, then put in its place under its name. What a crash leaves behind has another name than a log and
 * is never opened as one.
 */
const openDraft = async (
  path: string,
  { replace, at }: { readonly replace: boolean; readonly at: string },
): Promise<LogDraft> => {
  const found = await look(path)
  if (found.status !== 'empty' && !replace) throw new TargetTakenError(`${path} is not empty`)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draftPath = `${path}.${process.pid}.partial`
  // Closed to others from its first byte on.
  await (await open(draftPath, 'wx', 0o600)).close()
  const discard = (): Promise<void> => rm(draftPath, { force: true })
  const db = connectNew(draftPath)
  const reported = <Result>(work: () => Result): Result => {
    try {
      return work()
    } catch (error) {
      throw isSqliteError(error) ? unavailable('write to', draftPath, error) : error
    }
  }
  try {
    reported(() => db.exec(SCHEMA))
  } catch (error) {
    db.close()
    await discard()
    throw error
  }
  const writer = new EventWriter(db)
  const treeNodes = prepareTreeNodes(db)
  const headRow = prepareRows(db, 'SELECT seq, hash, recorded_at FROM events ORDER BY seq DESC LIMIT 1')
  return {
    append: async (records, expected) => {
      const { status } = reported(() => writer.append(records, expected))
      if (status !== 'appended') throw new Error('a draft has one writer')
    },
    head: async (): Promise<Head> => {
      const row = reported(() => firstRow(headRow))
      if (row === undefined) return EMPTY_HEAD
      const [seq, hash, recordedAt] = row as readonly [number, string, string]
      return { seq, hash, recordedAt }
    },
    treeNodes: async (range) => reported(() => treeNodes(range)),
    install: async () => {
      db.close()
      await syncFile(draftPath)
      const replaced = await setAside(path, at)
      await rename(draftPath, path)
      await syncFile(dirname(path))
      return { replaced: found.status === 'empty' ? null : replaced }
    },
    discard: async () => {
      if (db.isOpen) db.close()
      await discard()
    },
  }
}

/**
 * The journal goes along under the matching name, since the file may be worth nothing without it. It goes last: without a
 * file it is ignored, but a journal of another file would spoil the new one.
 */
const setAside = async (path: string, at: string): Promise<string | null> => {
  const aside = `${path}.replaced-${at.replaceAll(/[^0-9A-Za-z]/g, '')}`
  let isMoved = false
  for (const suffix of ['', '-wal', '-shm']) {
    if (!(await exists(path + suffix))) continue
    await rename(path + suffix, aside + suffix)
    isMoved = true
  }
  return isMoved ? aside : null
}

const exists = async (path: string): Promise<boolean> => {
  try {
    await stat(path)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
}

/** Of a file or a folder. */
const syncFile = async (path: string): Promise<void> => {
  await using file = await open(path, 'r')
  await file.sync()
}
