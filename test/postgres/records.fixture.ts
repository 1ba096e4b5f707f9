import type { LogRecord } from '../../src/core/log/event.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { recordsAfter, type Said } from '../records.fixture.ts'

/** Appends after the current head, and retries until no other writer was faster. */
export const appendAgainstOthers = async (
  log: EventLog,
  count: number,
  say?: (seq: number) => Said,
): Promise<readonly LogRecord[]> => {
  for (;;) {
    const head = await log.head()
    const records = recordsAfter(head, count, say)
    const { status } = await log.append(records, head)
    if (status === 'appended') return records
  }
}

/** All records of the log, in order. */
export const everything = async (log: EventLog): Promise<readonly LogRecord[]> => {
  const records: LogRecord[] = []
  for await (const page of log.scan({ after: 0, upTo: (await log.head()).seq })) records.push(...page)
  return records
}
