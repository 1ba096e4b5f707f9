import { randomUUID } from 'node:crypto'
import { chmod, link, mkdir, open, readFile, rename, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Creates a file only its owner may read, whole or not at all. False when it was there already: of
 * several processes that create it at the same time exactly one succeeds, and nothing is overwritten.
 */
export const createPrivateFile = async (path: string, text: string): Promise<boolean> => {
  const draft = await writeDraft(path, text)
  try {
    await link(draft, path)
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  } finally {
    await unlink(draft)
  }
  await syncFolder(dirname(path))
  return true
}

/** Puts new text in the place of the old one; a reader sees either, never a part. */
export const replacePrivateFile = async (path: string, text: string): Promise<void> => {
  const draft = await writeDraft(path, text)
  try {
    await rename(draft, path)
  } catch (error) {
    await unlink(draft)
    throw error
  }
  await syncFolder(dirname(path))
}

/** Null when there is no such file. */
export const readTextFile = async (path: string): Promise<string | null> => {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  }
}

/** The folder of `path`, closed to everyone else. */
export const preparePrivateFolder = async (path: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await chmod(dirname(path), 0o700)
}

export const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code

const writeDraft = async (path: string, text: string): Promise<string> => {
  await preparePrivateFolder(path)
  const draft = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`)
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } catch (error) {
    await unlink(draft)
    throw error
  } finally {
    await file.close()
  }
  return draft
}

/** A new name is durable only when its folder is. Windows cannot open folders and needs no such step. */
const syncFolder = async (folder: string): Promise<void> => {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
