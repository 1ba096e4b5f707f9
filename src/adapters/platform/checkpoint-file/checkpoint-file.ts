import { constants } from 'node:fs'
import { mkdir, open, rename, stat, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parseSignedCheckpoint, SIGNATURE_MARK, type SignedCheckpoint } from '../../../core/log/checkpoint.ts'
import type { CheckpointStore, StoredCheckpoints } from '../../../ports/checkpoints.ts'
import { withFileLock } from '../../file-lock.ts'
import {
  assertIsFile,
  exists,
  NO_LINK_NO_WAIT,
  openFault,
  orNull,
  syncFolderOf,
  withDraft,
} from '../../files.ts'

export interface CheckpointFileLimits {
  /** Size beyond which the file is rewritten with its newest notes. */
  readonly bytesMax: number
  readonly notesKept: number
}

/** Signed checkpoints, one after the other, in a file beside the database or on another disk. */
export const checkpointFile = (
  path: string,
  { bytesMax, notesKept }: CheckpointFileLimits = { bytesMax: 1024 * 1024, notesKept: 100 },
): CheckpointStore => ({
  location: path,

  async read(which) {
    const newest = which === 'newest' ? await readEnd(path, NEWEST_BYTES) : NOTHING
    // Without any note near the end, more of the file is read: older notes may exist.
    return newest.notes.length > 0 ? newest : await readEnd(path, READ_BYTES_MAX)
  },

  async append(note) {
    await appendKept(path, asEntry(note))
    if ((await sizeOf(path)) <= bytesMax) return
    await withFileLock(lockOf(path), async ({ isStillOurs }) => {
      // Another process may have compacted the file meanwhile.
      if ((await sizeOf(path)) > bytesMax) await compact(path, notesKept, isStillOurs)
    })
  },

  async setAside(at) {
    const aside = `${path}.superseded-${at.replaceAll(/[^0-9A-Za-z]/g, '')}`
    const isMoved = await orNull(
      'ENOENT',
      withFileLock(lockOf(path), () => rename(path, aside)).then(() => true),
    )
    if (isMoved === null) return null
    await syncFolderOf(path)
    return aside
  },
})

const NOTHING: StoredCheckpoints = { notes: [], unreadable: 0 }
/** Size of about fifty notes. A note that another process wrote late then does not hide a larger one. */
const NEWEST_BYTES = 64 * 1024
/** The file stays far below this. A larger one was not written by this program. */
const READ_BYTES_MAX = 16 * 1024 * 1024

const readEnd = async (path: string, bytesMax: number): Promise<StoredCheckpoints> => {
  await using file = await orNull('ENOENT', openOwn(path, constants.O_RDONLY))
  if (file === null) return NOTHING
  const { size } = await file.stat()
  const start = Math.max(0, size - bytesMax)
  const buffer = Buffer.alloc(size - start)
  const { bytesRead } = await file.read(buffer, 0, buffer.length, start)
  const content = buffer.toString('utf8', 0, bytesRead)
  return readEntries(start === 0 ? content : content.slice(nextEntryIn(content)))
}

/** Neither follows a link nor waits for a pipe that was put in the place of the file. */
const openOwn = async (path: string, flags: number): Promise<FileHandle> => {
  const file = await open(path, flags | NO_LINK_NO_WAIT, 0o600).catch((error: unknown) => {
    throw openFault(path, error)
  })
  try {
    assertIsFile(path, await file.stat())
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Where the first whole entry begins; what stands before it may be half of an older note. */
const nextEntryIn = (content: string): number => {
  const at = content.indexOf('\n\n\n')
  return at === -1 ? content.length : at
}

/** 0 if another process has set the file aside meanwhile, together with the note. */
const sizeOf = async (path: string): Promise<number> => (await orNull('ENOENT', stat(path)))?.size ?? 0

/** Lock that is held while the file is replaced. */
const lockOf = (path: string): string => `${path}.lock`

/**
 * Another process may be replacing the file. The note may then be in the old file and missing from the new one, if the
 * old file was read before the note was written. A replacement that starts later includes the note. A note therefore
 * counts when it is in the file while no other process replaces it. A note that is stored twice does no harm.
 */
const appendKept = async (path: string, entry: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await using file = await appendDurably(path, entry)
  const { ino } = await file.stat()
  // The file is open, so its inode number is not given to another file.
  const isInPlace = async (): Promise<boolean> => (await orNull('ENOENT', stat(path)))?.ino === ino
  const isBeingReplaced = await exists(lockOf(path))
  if (!isBeingReplaced && (await isInPlace())) return
  await withFileLock(lockOf(path), async () => {
    if (!(await isInPlace())) await (await appendDurably(path, entry)).close()
  })
}

/** Appends with one write and one sync. */
const appendDurably = async (path: string, entry: string): Promise<FileHandle> => {
  const file = await openOwn(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT)
  try {
    const { size } = await file.stat()
    await writeWhole(file, entry)
    if (size === 0) await syncFolderOf(path)
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

const writeWhole = async (file: FileHandle, entry: string): Promise<void> => {
  const bytes = Buffer.from(entry)
  const { bytesWritten } = await file.write(bytes)
  if (bytesWritten !== bytes.length)
    throw new Error('a checkpoint was written only in part: is the disk full?')
  await file.sync()
}

/** Keeps the newest notes, in a new file that replaces the old one atomically. */
const compact = async (
  path: string,
  notesKept: number,
  isStillOurs: () => Promise<boolean>,
): Promise<void> => {
  const kept = (await readEnd(path, READ_BYTES_MAX)).notes.slice(-notesKept)
  const text = kept.map(({ note }) => asEntry(note)).join('')
  await withDraft(path, text, async (draft) => {
    if (!(await isStillOurs())) return
    await rename(draft, path)
    await syncFolderOf(path)
  })
}

/** Two line ends come first. They end a piece that a crash cut off, so that only that piece is lost. */
const asEntry = (note: string): string => `\n\n${note}`

/** Finds the whole notes in a file, or in its end. */
const readEntries = (content: string): StoredCheckpoints => {
  const notes: SignedCheckpoint[] = []
  let unreadable = 0
  let body: string | null = null
  for (const block of content.split(BLANK_LINES)) {
    if (block === '') continue
    if (!block.startsWith(SIGNATURE_MARK)) {
      if (body !== null) unreadable += 1
      body = block
      continue
    }
    const [signature, ...rest] = block.split('\n')
    const note = body === null ? null : parseSignedCheckpoint(`${body}\n\n${signature}\n`)
    if (note !== null) notes.push(note)
    if (note === null || rest.some((line) => line !== '')) unreadable += 1
    body = null
  }
  if (body !== null) unreadable += 1
  return { notes: notes.sort((left, right) => left.frontier.size - right.frontier.size), unreadable }
}

const BLANK_LINES = /\n{2,}/
