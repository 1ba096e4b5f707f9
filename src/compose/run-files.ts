import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { removeLeftOver } from '../adapters/left-over-files.ts'
import { orNull } from '../adapters/platform/crypto/private-file.ts'
import type { RunStore } from '../backtest/runs/local-runs.ts'
import type { Run, RunResult, RunWithResult } from '../backtest/runs/runs.ts'

/** One file per run, `<folder>/<id>.json`. A file that cannot be read is left alone and reported. */
export const runFiles = (folder: string, onError: (what: string, error: unknown) => void): RunStore => {
  let last: Promise<unknown> = Promise.resolve()
  /** One after the other: a run can begin, or be cancelled, while it is still being stored as it was before. */
  const inOrder = (write: () => Promise<void>): Promise<void> => {
    const written = last.then(write)
    // The next one waits for it; a failure goes to its own caller.
    last = written.catch(() => undefined)
    return written
  }
  const pathOf = (id: string): string => join(folder, `${id}.json`)
  const read = async (id: string): Promise<RunWithResult> =>
    JSON.parse(await readFile(pathOf(id), 'utf8')) as RunWithResult
  return {
    load: async () => {
      await removeLeftOver(folder, DRAFT)
      const runs: Run[] = []
      for (const name of (await orNull('ENOENT', readdir(folder))) ?? []) {
        const id = /^([\w-]{1,64})\.json$/.exec(name)?.[1]
        if (id === undefined) continue
        try {
          const { result: _result, ...run } = await read(id)
          if (run.id !== id) throw new Error(`it holds the run ${run.id}`)
          runs.push(run)
        } catch (error) {
          onError(`could not read data/backtests/${name}`, error)
        }
      }
      return runs
    },
    save: (run) =>
      inOrder(async () => {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        const unfinished = `${pathOf(run.id)}.${randomUUID()}.part`
        await writeFile(unfinished, JSON.stringify(run), { mode: 0o600 })
        await rename(unfinished, pathOf(run.id))
      }),
    result: async (id) => (await read(id)).result,
    remove: (id) => inOrder(() => rm(pathOf(id), { force: true })),
  }
}

const DRAFT = /^[\w-]{1,64}\.json\.[\w-]+\.part$/

/** For a service that leaves nothing behind. */
export const runsInMemory = (): RunStore => {
  const results = new Map<string, RunResult | null>()
  return {
    load: () => Promise.resolve([]),
    save: async ({ id, result }) => {
      results.set(id, result)
    },
    result: (id) => Promise.resolve(results.get(id) ?? null),
    remove: async (id) => {
      results.delete(id)
    },
  }
}
