/**
 * Verifies a log with the code as it is shipped: `verify-process.mjs <path> <up to>`. Asked with a number of threads, or
 * 0 for as many as there are cores, it answers with the milliseconds it took. A process of its own, since threads
 * inherit the loader that benches run through and would start slower than those of the service.
 */
import { on } from 'node:events'
import process from 'node:process'

const { verifyInThreads } = await import(
  new URL('../../dist/adapters/storage/sqlite/verify.js', import.meta.url).href
)
const [path, upTo] = process.argv.slice(2)
const { signal } = new AbortController()

for await (const [threads] of on(process, 'message')) {
  const start = performance.now()
  const range = { after: 0, upTo: Number(upTo) }
  const report = await verifyInThreads(path, range, threads === 0 ? { signal } : { signal, threads })
  if (!report.ok) throw new Error(report.detail)
  process.send?.(performance.now() - start)
}
