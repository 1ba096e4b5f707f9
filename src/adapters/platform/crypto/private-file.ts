import { chmod, mkdir, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createWhole, orNull, syncFolderOf, withDraft } from '../../files.ts'

/**
 * Creates a file only its owner may read, whole or not at all. False when it was there already: of
 * several processes that create it at the same time exactly one succeeds, and nothing is overwritten.
 */
export const createPrivateFile = async (path: string, text: string): Promise<boolean> => {
  await preparePrivateFolder(path)
  return createWhole(path, text)
}

/** Puts new text in the place of the old one; a reader sees either, never a part. */
export const replacePrivateFile = async (path: string, text: string): Promise<void> => {
  await preparePrivateFolder(path)
  await withDraft(path, text, async (draft) => {
    await rename(draft, path)
    await syncFolderOf(path)
  })
}

/** Going on would put a secret at risk. The message names what the operator can set. */
export class SecurityError extends Error {
  override readonly name = 'SecurityError'
  constructor(detail: string) {
    super(`SECURITY ERROR: ${detail}`)
  }
}

/** A file with a secret that other users of the machine may read or change. It is not used, as SSH does. */
export class FileOpenToOthersError extends Error {
  override readonly name = 'FileOpenToOthersError'
  constructor(path: string, mode: number) {
    const shown = (mode & 0o777).toString(8).padStart(4, '0')
    super(
      `SECURITY ERROR: ${path} is open to other users of this machine (mode ${shown}) and is not used: ` +
        `run "chmod 600 ${path}", and replace what it protects if others may have read it`,
    )
  }
}

/** Text that only the owner may read; null when there is no such file. Windows has no modes. */
export const readPrivateFile = async (path: string): Promise<string | null> => {
  await using file = await orNull('ENOENT', open(path, 'r'))
  if (file === null) return null
  const found = await file.stat()
  const isOpen = process.platform !== 'win32' && found.isFile() && (found.mode & 0o077) !== 0
  if (isOpen) throw new FileOpenToOthersError(path, found.mode)
  return await file.readFile('utf8')
}

/** The folder of `path`, closed to everyone else. */
export const preparePrivateFolder = async (path: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await chmod(dirname(path), 0o700)
}
