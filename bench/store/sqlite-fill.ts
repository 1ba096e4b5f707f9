import { type Head, type LogRecord, type Stamped } from '../../src/core/log/event.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { lastHead, recordsOf, sampleEvents } from './sample-events.ts'

/** Batches on their way at the same time: one is chained while the other is written. */
const IN_FLIGHT = 2

/** Chains and appends events in batches, as the engine does: the next batch does not wait for the last one. */
export const appendAll = async (
  log: EventLog,
  batches: Iterable<readonly Stamped[]>,
  onBatch: (count: number) => void = () => undefined,
): Promise<void> => {
  let head = await log.head()
  const inFlight: Promise<void>[] = []
  for (const events of batches) {
    const records = recordsOf(events, head)
    inFlight.push(stored(log, records, head).then(() => onBatch(events.length)))
    head = lastHead(records, head)
    if (inFlight.length >= IN_FLIGHT) await inFlight.shift()
  }
  await Promise.all(inFlight)
}

/** Then the writing thread runs translated code, as it does in a service that runs for weeks. */
export const WARM_UP_EVENTS = 15_000

/** Starts the writing thread, which is no part of what is measured. */
export const warmUp = (log: EventLog, events = 1): Promise<void> =>
  appendAll(log, inBatches(sampleEvents(0, events), 256))

export function* inBatches<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size)
}

const stored = async (log: EventLog, records: readonly LogRecord[], head: Head): Promise<void> => {
  const { status } = await log.append(records, head)
  if (status !== 'appended') throw new Error(status)
}
