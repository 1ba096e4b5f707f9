import { domainOf, type Head, type LogRecord } from '../../core/log/event.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { readPages } from '../read-pages.ts'
import { faultAt, type Fault, type Findings } from './findings.ts'
import { yieldToEventLoop } from '../../ports/yield-to-event-loop.ts'
import { withTexts } from './record-check.ts'

/**
 * Whether every event is found by its domain. The log can be whole and still be read wrongly: what a store files an
 * event under is outside of hash and signature. `counts` is what the events themselves say.
 */
export const checkIndex = async (
  log: EventLog,
  head: Head,
  counts: ReadonlyMap<string, number>,
  findings: Findings,
): Promise<void> => {
  for (const [domain, expected] of counts) {
    let found = 0
    for await (const page of pagesOfDomain(log, domain, head)) {
      found += page.length
      await yieldToEventLoop()
    }
    const fault = found === expected ? null : await firstUnfiled(log, domain, head)
    if (fault !== null) findings.add(fault)
  }
}

const PAGE_SIZE = 1000

const isOf = (record: LogRecord, domain: string): boolean => domainOf(withTexts(record).type) === domain

async function* pagesOfDomain(
  log: EventLog,
  domain: string,
  head: Head,
): AsyncIterable<readonly LogRecord[]> {
  const query = { types: [domain], after: 0, before: head.seq + 1, order: 'asc', limit: PAGE_SIZE } as const
  // A domain of one segment is also the beginning of others.
  for await (const page of readPages(log, query)) yield page.filter((record) => isOf(record, domain))
}

/** Goes through the log and the index side by side, to the first event of the domain that only the log has. */
const firstUnfiled = async (log: EventLog, domain: string, head: Head): Promise<Fault | null> => {
  const filed = pagesOfDomain(log, domain, head)[Symbol.asyncIterator]()
  let seqs = new Set<number>()
  let filedUpTo = 0
  for await (const page of log.scan({ after: 0, upTo: head.seq })) {
    for (const record of page) {
      if (!isOf(record, domain)) continue
      while (filedUpTo < record.seq) {
        const next = await filed.next()
        if (next.done === true) filedUpTo = Number.POSITIVE_INFINITY
        else {
          seqs = new Set(next.value.map(({ seq }) => seq))
          filedUpTo = next.value.at(-1)?.seq ?? filedUpTo
        }
      }
      if (!seqs.has(record.seq))
        return faultAt(record, 'field', `event ${record.seq} is not filed under ${domain}`)
    }
  }
  return null
}
