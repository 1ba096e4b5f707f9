import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import type { BenchRow } from '../harness.ts'
import { benchAppend, benchGrowth } from './sqlite-append.ts'
import { warmUp } from './sqlite-fill.ts'
import { benchRead, benchSize } from './sqlite-read.ts'
import { benchReopen } from './sqlite-reopen.ts'
import { benchVerify } from './sqlite-verify.ts'

export interface SqliteBenchOptions {
  readonly rounds?: number
  /** Events in the log that is read, verified and measured. */
  readonly events?: number
}

/** What the log costs, against the plainest way to do the same with the same driver on the same disk. */
export const benchSqlite = async ({ rounds = 7, events = 1_000_000 }: SqliteBenchOptions = {}): Promise<
  readonly BenchRow[]
> => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-sqlite-'))
  try {
    const path = join(folder, 'events.db')
    const appended = await benchAppend(folder, rounds)
    const log = await openSqliteLog({ path })
    await warmUp(log)
    const grown = await benchGrowth(log, events)
    return [
      ...appended,
      ...grown,
      ...(await benchVerify(log, path, events, rounds)),
      ...(await benchRead(log, path, events, rounds)),
      ...(await benchSize(log, path, events)),
      ...(await benchReopen(folder, 3 * rounds)),
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
