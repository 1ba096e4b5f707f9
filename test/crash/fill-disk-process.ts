/** Appends until the disk is full, and prints what was acknowledged: `fill-disk-process.ts <path>`. */
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import { headAfter, recordsAfter } from '../records.fixture.ts'

const [path = ''] = process.argv.slice(2)

const log = await openSqliteLog({ path })
const nextBatch = (head: Awaited<ReturnType<typeof log.head>>) =>
  recordsAfter(head, 20, (seq) => ({ dedupeKey: `key-${seq}`, payload: { text: 'x'.repeat(2000) } }))

const errors: string[] = []
let acknowledged = await log.head()
while (errors.length === 0) {
  const records = nextBatch(acknowledged)
  try {
    const { status } = await log.append(records, acknowledged)
    if (status === 'appended') acknowledged = headAfter(records)
    else errors.push(status)
  } catch (error) {
    errors.push(error instanceof Error ? error.name : String(error))
  }
}
// Full is full: the next ones fail as well, and one that counts on them finds the head elsewhere.
const lost = nextBatch(acknowledged)
const outcomes = await Promise.allSettled([
  log.append(lost, acknowledged),
  log.append(nextBatch(headAfter(lost)), headAfter(lost)),
])
for (const outcome of outcomes) {
  errors.push(outcome.status === 'rejected' ? (outcome.reason as Error).name : outcome.value.status)
}
const head = await log.head()
const readable = (await log.read({ order: 'asc', limit: 100_000 })).length
process.stdout.write(JSON.stringify({ acknowledged, head, readable, errors }))
process.exit(0)
