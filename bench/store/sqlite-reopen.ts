import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import type { BenchRow } from '../harness.ts'

/** T14: how long the log takes to open after its writer was killed in the middle of its work. */
export const benchReopen = async (folder: string, rounds: number): Promise<readonly BenchRow[]> => {
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const path = join(folder, `reopen-${round}.db`)
    const acknowledged = await killWriter(path)
    const start = performance.now()
    const log = await openSqliteLog({ path })
    const head = await log.head()
    times.push(performance.now() - start)
    if (head.seq < acknowledged)
      throw new Error(`${acknowledged} events were acknowledged, ${head.seq} are there`)
    const report = await log.verifyHashes({ after: Math.max(0, head.seq - 2000), upTo: head.seq })
    if (!report.ok) throw new Error(report.detail)
    await log.close()
  }
  return [
    {
      id: 'T14',
      what: 'ms to open after kill -9, worst',
      value: Math.max(...times),
      target: '<= 10',
      baseline: `${rounds} kills`,
    },
  ]
}

const EVENTS_BEFORE_KILL = 5000

/** Kills it after so many acknowledged events. */
const killWriter = async (path: string): Promise<number> => {
  const script = fileURLToPath(new URL('append-forever-process.ts', import.meta.url))
  const child = spawn(process.execPath, [...process.execArgv, script, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let acknowledged = 0
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    acknowledged = Number(text.trimEnd().split('\n').at(-1))
    if (acknowledged >= EVENTS_BEFORE_KILL) child.kill('SIGKILL')
  })
  await once(child, 'exit')
  return acknowledged
}
