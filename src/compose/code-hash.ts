import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { orNull } from '../adapters/files.ts'
import { BRAIN, builtInStrategy } from '../core/strategies/built-in.ts'
import { findOwnProducers, producersFolder, strategiesFolder } from './strategies.ts'

/** Hash of the user's code that a run may use: the producers for the brain, or the strategies. Null if it uses none. */
export const codeHash = async (strategy: string, home: string): Promise<string | null> => {
  if (strategy !== BRAIN)
    return builtInStrategy(strategy) === undefined ? hashOf(strategiesFolder(home)) : null
  return (await findOwnProducers(home)).length === 0 ? null : hashOf(producersFolder(home))
}

/**
 * Hash of all files of the folder, since they may import one another. Packages installed in the folder are left out.
 */
const hashOf = async (folder: string): Promise<string> => {
  const hash = createHash('sha256')
  for (const file of (await filesIn(folder)).toSorted()) {
    const name = relative(folder, file).split(sep).join('/')
    hash.update(`${name}\0`).update(
      createHash('sha256')
        .update(await readFile(file))
        .digest(),
    )
  }
  return hash.digest('hex')
}

const filesIn = async (folder: string): Promise<readonly string[]> => {
  // A missing folder has no files. Opening the strategy then reports that it is not found.
  const entries = (await orNull('ENOENT', readdir(folder, { withFileTypes: true }))) ?? []
  const found = await Promise.all(
    entries.map(async (entry): Promise<readonly string[]> => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return LEFT_OUT.has(entry.name) ? [] : filesIn(path)
      const isFile = entry.isSymbolicLink() ? await leadsToFile(path) : entry.isFile()
      return isFile ? [path] : []
    }),
  )
  return found.flat()
}

/** False for a broken link, which is no code. */
const leadsToFile = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => null)
  return found?.isFile() ?? false
}

const LEFT_OUT: ReadonlySet<string> = new Set(['node_modules', '.git'])
