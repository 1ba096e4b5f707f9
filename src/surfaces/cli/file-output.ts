import { link, open, rename, unlink, type FileHandle } from 'node:fs/promises'
import { Failure } from './failure.ts'

export interface FileOutput {
  write(text: string): Promise<void>
}

/**
 * Lets `produce` write a file that appears whole or not at all, readable by its owner only.
 * Without `force` an existing file is left alone.
 */
export const writeWholeFile = async <Result>(
  path: string,
  options: { readonly force: boolean },
  produce: (output: FileOutput) => Promise<Result>,
): Promise<Result> => {
  const draftPath = `${path}.${process.pid}.partial`
  const draft = await openDraft(draftPath, path)
  try {
    const result = await produce({ write: (text) => draft.appendFile(text) })
    await draft.sync()
    if (options.force) await rename(draftPath, path)
    else await linkNew(draftPath, path)
    return result
  } finally {
    await draft.close()
    await unlinkIfThere(draftPath)
  }
}

const openDraft = async (draftPath: string, path: string): Promise<FileHandle> => {
  try {
    return await open(draftPath, 'w', 0o600)
  } catch (error) {
    throw new Failure('file.unreadable', `cannot write ${path}: ${messageOf(error)}`)
  }
}

/** Fails if somebody else was first, however close. */
const linkNew = async (draftPath: string, path: string): Promise<void> => {
  try {
    await link(draftPath, path)
  } catch (error) {
    if (hasCode(error, 'EEXIST')) throw fileExists(path)
    throw error
  }
}

export const fileExists = (path: string): Failure =>
  new Failure('file.exists', `${path} exists already`, {
    advice: 'Choose another name, or add --force to replace it.',
  })

const unlinkIfThere = async (path: string): Promise<void> => {
  try {
    await unlink(path)
  } catch (error) {
    // Renamed: that is how a forced draft becomes the file.
    if (!hasCode(error, 'ENOENT')) throw error
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
