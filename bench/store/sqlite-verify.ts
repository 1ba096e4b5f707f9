import type * as Verify from '../../src/adapters/storage/sqlite/verify.ts'
import { hashOf } from '../../src/core/log/hash-chain.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { built } from '../built.ts'
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
  const { verifyInThreads } = await built<typeof Verify>('adapters/storage/sqlite/verify')
  const preimages = await preimagesOf(log, PREIMAGES)
  const { signal } = new AbortController()
  const verify = (threads?: number): Promise<number> =>
    rateOf(upTo, async () => {
      const range = { after: 0, upTo }
      const options = threads === undefined ? { signal } : { signal, threads }
      const report = await verifyInThreads(path, range, options)
      if (!report.ok) throw new Error(report.detail)
    })
  const { all, one, raw } = await interleave(rounds, {
    raw: () => rateOf(PREIMAGES, () => preimages.forEach(sha256Hex)),
    one: () => verify(1),
    all: () => verify(),
  })
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
