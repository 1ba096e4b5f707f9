import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { hashOf } from '../../src/core/log/hash-chain.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { interleave, median, medianRatio, rateOf, type BenchRow } from '../harness.ts'
import { sha256Hex } from './sample-events.ts'

const PREIMAGES = 100_000

/** T3 and T3b: verification of everything against nothing but hashing the same texts. */
export const benchVerify = async (
  log: EventLog,
  path: string,
  upTo: number,
  rounds: number,
): Promise<readonly BenchRow[]> => {
  const preimages = await preimagesOf(log, PREIMAGES)
  const verifier = startVerifier(path, upTo)
  const { all, one, raw } = await interleave(rounds, {
    raw: () => rateOf(PREIMAGES, () => preimages.forEach(sha256Hex)),
    one: () => verifier.rate(1),
    all: () => verifier.rate(0),
  })
  verifier.close()
  const baseline = `crypto.hash of the same texts, one thread (${Math.round(median(raw))}/s)`
  return [
    {
      id: 'T3',
      what: `events/s verified, all cores (${Math.round(median(all))}/s)`,
      value: medianRatio(all, raw),
      target: '>= 0.74',
      baseline,
    },
    {
      id: 'T3b',
      what: `events/s verified, one thread (${Math.round(median(one))}/s)`,
      value: medianRatio(one, raw),
      target: '>= 0.39',
      baseline,
    },
  ]
}

const startVerifier = (path: string, upTo: number) => {
  const script = fileURLToPath(new URL('verify-process.ts', import.meta.url))
  const child = fork(script, [path, String(upTo)], { execArgv: [] })
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('verification failed')))
  return {
    /** Events per second. */
    rate: async (threads: number): Promise<number> => {
      child.send(threads)
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
