import { join } from 'node:path'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import { EMPTY_HEAD } from '../../src/core/log/event.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { interleave, median, medianRatio, rateOf, type BenchRow } from '../harness.ts'
import { recordsOf, sampleEvents } from './sample-events.ts'
import { appendAll, inBatches, warmUp, WARM_UP_EVENTS } from './sqlite-fill.ts'
import { rawInsert, rawRowOf } from './sqlite-raw.ts'

const EVENTS = 40_000
const BATCH = 256

/** T2: canonical text, chain, indexes and dedupe against bare rows. */
export const benchAppend = async (folder: string, rounds: number): Promise<readonly BenchRow[]> => {
  const events = sampleEvents(0, EVENTS)
  const rows = recordsOf(events, EMPTY_HEAD).map(rawRowOf)
  let files = 0
  const nextPath = (): string => join(folder, `append-${(files += 1)}.db`)
  const { chained, raw } = await interleave(rounds, {
    chained: async () => {
      const log = await openSqliteLog({ path: nextPath() })
      await warmUp(log, WARM_UP_EVENTS)
      const rate = await rateOf(EVENTS, () => appendAll(log, inBatches(sampleFrom(events), BATCH)))
      await log.close()
      return rate
    },
    raw: () => rateOf(EVENTS, () => rawInsert(nextPath(), rows, BATCH)),
  })
  return [
    {
      id: 'T2',
      what: `chained appends/s, batches of ${BATCH} (${Math.round(median(chained))}/s)`,
      value: medianRatio(chained, raw),
      target: '>= 0.65',
      baseline: `insert of the same rows (${Math.round(median(raw))}/s)`,
    },
  ]
}

/** Behind the events that warmed up. */
const sampleFrom = (events: ReturnType<typeof sampleEvents>): ReturnType<typeof sampleEvents> =>
  events.map((event) => ({ ...event, seq: event.seq + WARM_UP_EVENTS }))

const WINDOW = 100_000
const STEP = 10_000

/** T6: every event with a dedupe key of its own; the rate at the end against the rate of the first ones. */
export const benchGrowth = async (log: EventLog, total: number): Promise<readonly BenchRow[]> => {
  const rates: number[] = []
  for (let stored = (await log.head()).seq; stored < total; stored += STEP) {
    // Made before the clock runs: making samples is no part of appending.
    const events = sampleEvents(stored, STEP)
    rates.push(await rateOf(STEP, () => appendAll(log, inBatches(events, BATCH))))
  }
  const first = median(rates.slice(0, WINDOW / STEP))
  const last = median(rates.slice(-WINDOW / STEP))
  return [
    {
      id: 'T6',
      what: `appends/s at ${total} events, each with a dedupe key (${Math.round(last)}/s)`,
      value: last / first,
      target: '>= 0.85',
      baseline: `the first ${WINDOW} (${Math.round(first)}/s)`,
    },
  ]
}
