/** Verifies a log: `verify-process.ts <path> <up to>`. Each message is answered with the milliseconds it took. */
import { on } from 'node:events'
import { verifyInThreads } from '../../src/adapters/storage/sqlite/verify.ts'

const [path = '', upTo] = process.argv.slice(2)
const { signal } = new AbortController()

const requests = on(process, 'message')

for (;;) {
  await requests.next()
  const start = performance.now()
  const report = await verifyInThreads(path, { after: 0, upTo: Number(upTo) }, { signal })
  if (!report.ok) throw new Error(report.detail)
  process.send?.(performance.now() - start)
}
