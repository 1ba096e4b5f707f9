import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import { hashOf } from '../../src/core/log/hash-chain.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { interleave, median, medianRatio, rateOf, type BenchRow } from '../harness.ts'
import { sampleEvents, sha256Hex } from './sample-events.ts'
import { appendAll } from './sqlite-fill.ts'

const SMALL_EVENTS = 100_000
const BATCH = 1000

/** Verification of the hash chain against bare hashing of the same texts, in the same rounds. */
export const benchVerify = async (rounds: number, events: number): Promise<readonly BenchRow[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-verify-'))
  try {
    const path = join(folder, 'events.db')
    const rows = [await measure(path, SMALL_EVENTS, rounds)]
    if (events > SMALL_EVENTS) rows.push(await measure(path, events, rounds))
    return rows
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Fills the log up to this many events first. */
const measure = async (path: string, events: number, rounds: number): Promise<BenchRow> => {
  const log = await openSqliteLog({ path })
  await appendAll(log, samples((await log.head()).seq, events))
  const preimages = await preimagesOf(log, SMALL_EVENTS)
  const verifier = startVerifier(path, events)
  const { all, raw } = await interleave(rounds, {
    raw: () => rateOf(preimages.length, () => preimages.forEach(sha256Hex)),
    all: () => verifier.rate(),
  })
  verifier.close()
  await log.close()
  return {
    id: `verify ${events}`,
    what: `events/s verified, all cores, ${events} events (${Math.round(median(all))}/s)`,
    value: medianRatio(all, raw),
    target: '>= 0.40',
    baseline: `crypto.hash of the same texts, one thread (${Math.round(median(raw))}/s)`,
  }
}

function* samples(after: number, upTo: number): Generator<ReturnType<typeof sampleEvents>> {
  for (let seq = after; seq < upTo; seq += BATCH) yield sampleEvents(seq, Math.min(BATCH, upTo - seq))
}

const startVerifier = (path: string, upTo: number) => {
  const script = fileURLToPath(new URL('./verify-process.ts', import.meta.url))
  const child = fork(script, [path, String(upTo)], { execArgv: [] })
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('verification failed')))
  return {
    /** Events per second. */
    rate: async (): Promise<number> => {
      child.send('verify')
      const [tookMs] = (await Promise.race([once(child, 'message'), ended])) as [number]
      return (upTo * 1000) / tookMs
    },
    close: () => {
      ended.catch(() => undefined)
      child.kill()
    },
  }
}

const preimagesOf = async (log: EventLog, count: number): Promise<readonly string[]> => {
  const preimages: string[] = []
  for await (const page of log.scan({ after: 0, upTo: count })) {
    for (const record of page) {
      hashOf(record.prevHash, record, (text) => {
        // Through bytes: otherwise the first hash would pay for joining the parts of the text.
        preimages.push(Buffer.from(text).toString())
        return ''
      })
    }
  }
  return preimages
}
