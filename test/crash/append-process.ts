/** One of several processes that append to the same SQLite file: `append-process.ts <path> <writer> <batches> <all>`. */
import { readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import { recordsAfter } from '../records.fixture.ts'

const [path = '', writer = '', batches = '0', writers = '1'] = process.argv.slice(2)

const log = await openSqliteLog({ path })
// Every writer waits until all are ready. Otherwise the first would have finished before the last one starts.
writeFileSync(`${path}.ready-${writer}`, '')
const isReady = (name: string): boolean => name.startsWith(`${basename(path)}.ready-`)
while (readdirSync(dirname(path)).filter(isReady).length < Number(writers)) await setTimeout(10)

let headMoved = 0
for (let batch = 0; batch < Number(batches);) {
  const head = await log.head()
  const records = recordsAfter(head, 3, (seq) => ({
    dedupeKey: `${writer}-${seq}`,
    payload: { writer, batch, symbol: writer },
  }))
  const { status } = await log.append(records, head)
  if (status === 'appended') batch += 1
  else headMoved += 1
}
await log.close()
process.stdout.write(JSON.stringify({ headMoved }))
