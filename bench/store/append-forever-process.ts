/** Appends until it is killed, and tells how much was acknowledged: `append-forever-process.ts <path>`. */
import { writeSync } from 'node:fs'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import type { Stamped } from '../../src/core/log/event.ts'
import { sampleEvents } from './sample-events.ts'
import { appendAll } from './sqlite-fill.ts'

const [path = ''] = process.argv.slice(2)
const BATCH = 100

function* forever(): Generator<readonly Stamped[]> {
  for (let seq = 0; ; seq += BATCH) yield sampleEvents(seq, BATCH)
}

let acknowledged = 0
await appendAll(await openSqliteLog({ path }), forever(), (count) => {
  acknowledged += count
  writeSync(process.stdout.fd, `${acknowledged}\n`)
})
