/**
 * Verifies a log: `verify-process.ts <path> <up to>`. Asked with a number of threads, or 0 for as many as there are
 * cores, it answers with the milliseconds it took.
 */
import { on } from 'node:events'
import { verifyInThreads } from '../../src/adapters/storage/sqlite/verify.ts'

const [path = '', upTo] = process.argv.slice(2)
const { signal } = new AbortController()

for await (const [threads] of on(process, 'message') as AsyncIterable<[number]>) {
  const start = performance.now()
  const range = { after: 0, upTo: Number(upTo) }
  const report = await verifyInThreads(path, range, threads === 0 ? { signal } : { signal, threads })
  if (!report.ok) throw new Error(report.detail)
  process.send?.(performance.now() - start)
}
