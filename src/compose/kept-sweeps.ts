import { readdir, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'

export interface KeptSweeps {
  /** Files that are kept. */
  readonly keep: number
  /** All files together; the newest is kept whatever its size. */
  readonly bytesMax?: number
}

const BYTES_MAX = 2 ** 30

/** A sweep that was used within this time may be under way. */
const IN_USE_MS = 86_400_000
const USED_MS = 600_000

/** Ours: `<strategy>-<hash>.jsonl`. What others put into the folder is left alone. */
const SWEEP = /-[0-9a-f]{16}\.jsonl$/

/** Removes the results of sweeps that were not used for longest. */
export const removeOldSweeps = async (
  folder: string,
  { keep, bytesMax = BYTES_MAX }: KeptSweeps,
): Promise<void> => {
  const files = []
  for (const name of (await readdir(folder)).filter((one) => SWEEP.test(one))) {
    // Another process may have removed it.
    const found = await stat(join(folder, name)).catch(() => null)
    if (found !== null) files.push({ name, bytes: found.size, usedMs: found.mtimeMs })
  }
  let bytes = 0
  for (const [index, file] of files.toSorted((one, other) => other.usedMs - one.usedMs).entries()) {
    bytes += file.bytes
    const isOver = index >= keep || (index > 0 && bytes > bytesMax)
    // A file of another owner that cannot be removed does not prevent a sweep.
    if (isOver && Date.now() - file.usedMs > IN_USE_MS)
      await rm(join(folder, file.name), { force: true }).catch(() => undefined)
  }
}

/** Keeps a file in use, also while a run takes hours. Returns how to stop. */
export const keepInUse = async (file: string): Promise<() => void> => {
  const use = (): Promise<void> => utimes(file, new Date(), new Date()).catch(() => undefined)
  await use()
  const timer = setInterval(() => void use(), USED_MS).unref()
  return () => clearInterval(timer)
}
