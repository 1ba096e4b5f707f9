import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Whoever writes a draft for longer than this is gone. Numbers of processes say nothing where containers share a folder. */
const LEFT_MS = 3_600_000

/** Removes drafts that a process left behind which was killed while it wrote them. What cannot be removed stays. */
export const removeLeftOver = async (folder: string, drafts: RegExp): Promise<void> => {
  const names = await readdir(folder).catch((): readonly string[] => [])
  for (const name of names.filter((one) => drafts.test(one))) {
    const path = join(folder, name)
    const found = await stat(path).catch(() => null)
    const isLeft = found !== null && Date.now() - found.mtimeMs > LEFT_MS
    // It is in the way of nobody: the work that goes on here matters more.
    if (isLeft) await rm(path, { force: true }).catch(() => undefined)
  }
}
