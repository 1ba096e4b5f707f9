/**
 * Verifies a log with the code as it is shipped: `verify-process.mjs <path> <up to>`. Each message is answered with the
 * milliseconds it took. A process of its own, since threads inherit the loader that benches run through and would start
 * slower than those of the service.
 */
import { on } from 'node:events'
import process from 'node:process'

const { verifyInThreads } = await import(
  new URL('../../dist/adapters/storage/sqlite/verify.js', import.meta.url).href
)
const [path, upTo] = process.argv.slice(2)
const { signal } = new AbortController()
const run = on(process, 'message')

for (;;) {
  await run.next()
  const start = performance.now()
  const report = await verifyInThreads(path, { after: 0, upTo: Number(upTo) }, { signal })
  if (!report.ok) throw new Error(report.detail)
  process.send?.(performance.now() - start)
}
