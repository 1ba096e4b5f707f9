import { type Head, type LogRecord, type Stamped } from '../../src/core/log/event.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { lastHead, recordsOf } from './sample-events.ts'

/** Batches on their way at the same time: one is chained while the other is written. */
const IN_FLIGHT = 2

/** Chains and appends events in batches, as the engine does: the next batch does not wait for the last one. */
export const appendAll = async (log: EventLog, batches: Iterable<readonly Stamped[]>): Promise<void> => {
  let head = await log.head()
  const inFlight: Promise<void>[] = []
  for (const events of batches) {
    const records = recordsOf(events, head)
    inFlight.push(stored(log, records, head))
    head = lastHead(records, head)
    if (inFlight.length >= IN_FLIGHT) await inFlight.shift()
  }
  await Promise.all(inFlight)
}

export function* inBatches<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size)
}

const stored = async (log: EventLog, records: readonly LogRecord[], head: Head): Promise<void> => {
  const { status } = await log.append(records, head)
  if (status !== 'appended') throw new Error(status)
}
