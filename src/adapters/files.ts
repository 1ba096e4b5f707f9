import { randomUUID } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { link, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

// Helpers for every module that stores files: a file appears whole or not at all, and a missing file is no error.

/** Null where the promise fails with this code, or one of these; any other error is passed on. */
export const orNull = async <Value>(
  code: string | readonly string[],
  promise: Promise<Value>,
): Promise<Value | null> => {
  try {
    return await promise
  } catch (error) {
    if (error instanceof Error && 'code' in error && [code].flat().includes(String(error.code))) return null
    throw error
  }
}

/** Null when there is no such file. */
export const readTextFile = (path: string): Promise<string | null> => orNull('ENOENT', readFile(path, 'utf8'))

/** Undefined for a text that is no JSON: the parser's message would repeat parts of it. */
export const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const exists = async (path: string): Promise<boolean> => (await orNull('ENOENT', stat(path))) !== null

/**
 * Flags for files that are changed in place. A process that may write to the data folder could plant a link to a file of
 * another folder, such as the identity, or a pipe, which would be waited for. Zero on systems without them.
 */
export const NO_LINK_NO_WAIT = constants.O_NOFOLLOW | constants.O_NONBLOCK

const notAFile = (path: string): Error =>
  new Error(`${path} is not a regular file: remove it, or put the file itself there`)

/** Returns the error of opening a file without following links, in words. */
export const openFault = (path: string, error: unknown): unknown =>
  error instanceof Error && 'code' in error && error.code === 'ELOOP' ? notAFile(path) : error

/** A folder is left to the read or write that follows, which says what it is. */
export const assertIsFile = (path: string, found: Stats): void => {
  if (!found.isFile() && !found.isDirectory()) throw notAFile(path)
}

/** None for a folder that is not there. */
export const namesIn = async (folder: string): Promise<readonly string[]> =>
  (await orNull(['ENOENT', 'ENOTDIR'], readdir(folder))) ?? []

/** Creates a file whole or not at all. False if it existed. If several callers create it at once, one succeeds. */
export const createWhole = (path: string, text: string): Promise<boolean> =>
  withDraft(path, text, async (draft) => {
    if ((await orNull('EEXIST', linkOrWrite(draft, path, text))) === null) return false
    await syncFolderOf(path)
    return true
  })

const NO_LINKS: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

/** A link appears with its whole text or not at all; some file systems have none. */
const linkOrWrite = async (draft: string, path: string, text: string): Promise<true> => {
  try {
    await link(draft, path)
  } catch (error) {
    if (!NO_LINKS.has((error as NodeJS.ErrnoException).code)) throw error
    await writeFile(path, text, { flag: 'wx', mode: 0o600, flush: true })
  }
  return true
}

/** Runs `use` with the content in a durable file beside `path` that only its owner may read, and removes what is left. */
export const withDraft = async <Result>(
  path: string,
  content: string | Uint8Array,
  use: (draft: string) => Promise<Result>,
): Promise<Result> => {
  const draft = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`)
  try {
    await writeDurably(draft, content)
    return await use(draft)
  } finally {
    await rm(draft, { force: true })
  }
}

const writeDurably = async (path: string, content: string | Uint8Array): Promise<void> => {
  await using file = await open(path, 'wx', 0o600)
  // The mode given to open is narrowed by the process mask, never widened; this makes it exact.
  await file.chmod(0o600)
  await file.writeFile(content)
  await file.sync()
}

/** A new name is durable only when its folder is. Windows cannot open folders and needs no such step. */
export const syncFolderOf = async (path: string): Promise<void> => {
  if (process.platform === 'win32') return
  await using folder = await open(dirname(path), 'r')
  await folder.sync()
}

/** Age after which a draft counts as abandoned. Process ids cannot tell, because containers may share a folder. */
const LEFT_MS = 3_600_000

/** Removes drafts of processes that were killed while writing. Drafts that cannot be removed stay. */
export const removeLeftOver = async (folder: string, drafts: RegExp): Promise<void> => {
  const names = await readdir(folder).catch((): readonly string[] => [])
  for (const name of names.filter((one) => drafts.test(one))) {
    const path = join(folder, name)
    const found = await stat(path).catch(() => null)
    const isLeft = found !== null && Date.now() - found.mtimeMs > LEFT_MS
    // Errors are ignored: a leftover draft is harmless and must not stop the caller.
    if (isLeft) await rm(path, { force: true }).catch(() => undefined)
  }
}
