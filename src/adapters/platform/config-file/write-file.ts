import { randomBytes } from 'node:crypto'
import { link, mkdir, open, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ConfigurationFileError } from '../../../ports/config-file.ts'

const OWNER_ONLY = 0o600

/**
 * Replaces the file in one step, so that a reader or a crash meets the old text or the new, never a part.
 * Says `moved` and writes nothing when the file no longer holds `expected` (null = no file).
 */
export const replaceFile = async (
  path: string,
  text: string,
  expected: string | null,
): Promise<'written' | 'moved'> =>
  reporting(path, async () => {
    // Through a link, or the next edit of the real file would change nothing.
    const target = (await orNull('ENOENT', realpath(path))) ?? path
    const temporary = await writeTemporary(target, text)
    try {
      if ((await orNull('ENOENT', readFile(target, 'utf8'))) !== expected) return 'moved'
      await rename(temporary, target)
      await syncFolder(target)
      return 'written'
    } finally {
      await rm(temporary, { force: true })
    }
  })

/** Creates the file with its whole text, or leaves the one that exists. */
export const createFile = async (path: string, text: string): Promise<'created' | 'exists'> =>
  reporting(path, async () => {
    const temporary = await writeTemporary(path, text)
    try {
      if ((await linkOrWrite(temporary, path, text)) === 'exists') return 'exists'
      await syncFolder(path)
      return 'created'
    } finally {
      await rm(temporary, { force: true })
    }
  })

const writeTemporary = async (path: string, text: string): Promise<string> => {
  await mkdir(dirname(path), { recursive: true })
  const temporary = join(
    dirname(path),
    `.${basename(path)}.${process.pid}.${randomBytes(8).toString('hex')}.tmp`,
  )
  await using file = await open(temporary, 'wx', OWNER_ONLY)
  // The mode given to open is narrowed by the process mask, never widened; this makes it exact.
  await file.chmod(OWNER_ONLY)
  await file.writeFile(text)
  await file.sync()
  return temporary
}

const NO_LINKS: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

/** A link appears with its whole text or not at all; some file systems have none. */
const linkOrWrite = async (temporary: string, path: string, text: string): Promise<'created' | 'exists'> => {
  try {
    await link(temporary, path)
    return 'created'
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return 'exists'
    if (!NO_LINKS.has(code)) throw error
  }
  const written = await orNull(
    'EEXIST',
    writeFile(path, text, { flag: 'wx', mode: OWNER_ONLY, flush: true }).then(() => true),
  )
  return written === null ? 'exists' : 'created'
}

/** The new name itself must survive a power cut. */
const syncFolder = async (path: string): Promise<void> => {
  if (process.platform === 'win32') return
  await using folder = await open(dirname(path), 'r')
  await folder.sync()
}

const orNull = async <T>(code: string, promise: Promise<T>): Promise<T | null> => {
  try {
    return await promise
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === code) return null
    throw error
  }
}

const reporting = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new ConfigurationFileError(`${path} could not be written (${code ?? message})`, { cause: error })
  }
}
