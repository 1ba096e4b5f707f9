import { domainOf, type Head, type LogRecord } from '../../core/log/event.ts'
import type { DerivedData } from '../../ports/derived-data.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { readPages } from '../read-pages.ts'
import { faultAt, faultBeside, type IntegrityFault, type Findings } from './findings.ts'
import { yieldToEventLoop } from '../../ports/yield-to-event-loop.ts'
import { withTexts } from './record-check.ts'

/**
 * Whether every event is found by its domain. A log can be intact and still be read incorrectly, because hash and
 * signature do not cover the domain under which a store files an event. `counts` are the counts of the events
 * themselves.
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

/** Looks up events through all data that the store derives from them. A full verification passes every event. */
export const createDerivedCheck = (log: EventLog, findings: Findings) => {
  const expected = { events: 0, dedupeKeys: 0, signals: 0, refs: 0 }
  const add = async (page: readonly LogRecord[]): Promise<void> => {
    if (log.derived === undefined) return
    const records = page.map(withTexts)
    const { faults, refs } = await log.derived.check(records)
    for (const { seq, what } of faults) findings.add(derivedFault(`${what} does not hold event ${seq}`))
    expected.refs += refs
    for (const { type, dedupeKey } of records) {
      expected.events += 1
      if (dedupeKey !== null) expected.dedupeKeys += 1
      if (type.startsWith('signal.')) expected.signals += 1
    }
  }
  return {
    /** Adds the next events. */
    add,
    /**
     * Checks definitions, counts by domain, and some events of each part of the log, with a bounded number of queries.
     */
    sample: async (head: Head): Promise<void> => {
      if (log.derived === undefined) return
      await checkDefinitions(log.derived, findings)
      const sampled: LogRecord[] = []
      for (let part = 1; part <= SAMPLES; part += 1) {
        const seq = Math.ceil((head.seq * part) / SAMPLES)
        if (seq !== sampled.at(-1)?.seq)
          sampled.push(...(await log.read({ after: seq - 1, order: 'asc', limit: 1 })))
      }
      await add(sampled)
      let counted = 0
      for (const count of (await log.countByDomain()).values()) counted += count
      // Counts are read after the head, so events appended since can only increase them.
      if (counted < head.seq)
        findings.add(derivedFault(`the counts by domain add up to ${counted} of ${head.seq} events`))
    },
    /** Called after all events. Further entries in the derived data belong to no event. */
    end: async (head: Head, counts: ReadonlyMap<string, number>): Promise<void> => {
      if (log.derived === undefined) return
      await checkDefinitions(log.derived, findings)
      const { seq } = await log.head()
      // A log that grew meanwhile holds more entries by now.
      if (seq !== head.seq) return
      const { events, dedupeKeys, signals, refs } = expected
      const wanted: Readonly<Record<string, number>> = {
        events_id: events,
        events_dedupe_key: dedupeKeys,
        events_dom: events,
        events_signals: signals,
        events_dom_signals: signals,
        about: refs,
      }
      for (const [name, count] of await log.derived.counts())
        if (count !== wanted[name])
          findings.add(derivedFault(`${name} holds ${count} entries instead of ${wanted[name]}`))
      for (const [domain, count] of await log.countByDomain())
        if (count !== (counts.get(domain) ?? 0))
          findings.add(
            derivedFault(`${count} events of ${domain} are counted instead of ${counts.get(domain) ?? 0}`),
          )
    },
  }
}

const checkDefinitions = async (derived: DerivedData, findings: Findings): Promise<void> => {
  for (const name of await derived.alteredIndexes())
    findings.add(derivedFault(`the index ${name} is missing or is not the one of this release`))
  for (const name of (await derived.foreignTriggers?.()) ?? [])
    findings.add(derivedFault(`the trigger ${JSON.stringify(name)} is not one of this release`))
}

const derivedFault = (detail: string): IntegrityFault =>
  faultBeside('projections', `${detail}; "svc doctor --repair" makes it anew`)

/** Number of samples with which an index that lacks a tenth of its entries is detected in nineteen of twenty starts. */
const SAMPLES = 32

const PAGE_SIZE = 1000

const isOf = (record: LogRecord, domain: string): boolean => domainOf(withTexts(record).type) === domain

async function* pagesOfDomain(
  log: EventLog,
  domain: string,
  head: Head,
): AsyncIterable<readonly LogRecord[]> {
  const query = { types: [domain], after: 0, before: head.seq + 1, order: 'asc', limit: PAGE_SIZE } as const
  // A domain of one segment is also the prefix of other domains.
  for await (const page of readPages(log, query)) yield page.filter((record) => isOf(record, domain))
}

/** Reads log and index side by side, up to the first event of the domain that the index lacks. */
const firstUnfiled = async (log: EventLog, domain: string, head: Head): Promise<IntegrityFault | null> => {
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
