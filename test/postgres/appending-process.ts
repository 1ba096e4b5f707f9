import { openPostgresLog } from '../../src/adapters/storage/postgres/postgres-log.ts'
import { appendAgainstOthers } from './records.fixture.ts'

/** A process of its own that appends batches and prints the ids that were acknowledged. */
const [url, name, batches] = process.argv.slice(2)
if (url === undefined || name === undefined) throw new Error('needs the address of the log and a name')

const log = await openPostgresLog({ url })
const promised: string[] = []
for (let batch = 0; batch < Number(batches); batch += 1) {
  const records = await appendAgainstOthers(log, 2, (seq) => ({
    type: `signal.${name}.v1`,
    payload: { batch, seq },
  }))
  promised.push(...records.map(({ id }) => id))
}
await log.close()
process.send?.(promised)
