import { link, mkdir, readFile, realpath, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ConfigurationFileError } from '../../../ports/config-file.ts'
import { orNull, syncFolderOf, withDraft } from '../crypto/private-file.ts'

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
    await mkdir(dirname(target), { recursive: true })
    return withDraft(target, text, async (draft) => {
      if ((await orNull('ENOENT', readFile(target, 'utf8'))) !== expected) return 'moved'
      await rename(draft, target)
      await syncFolderOf(target)
      return 'written'
    })
  })

/** Creates the file with its whole text, or leaves the one that exists. */
export const createFile = async (path: string, text: string): Promise<'created' | 'exists'> =>
  reporting(path, async () => {
    await mkdir(dirname(path), { recursive: true })
    return withDraft(path, text, async (draft) => {
      if ((await orNull('EEXIST', linkOrWrite(draft, path, text))) === null) return 'exists'
      await syncFolderOf(path)
      return 'created'
    })
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

const reporting = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new ConfigurationFileError(`${path} could not be written (${code ?? message})`, { cause: error })
  }
}
