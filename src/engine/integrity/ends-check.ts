import type { Head } from '../../core/log/event.ts'
import { missingFault, type EventLog } from '../../ports/event-log.ts'
import type { Findings } from './findings.ts'
import { faultAt, faultFrom } from './record-check.ts'

/** What no walk from 1 to the head can see: events numbered below 1, and a count that remembers more events. */
export const checkEnds = async (
  log: EventLog,
  head: Head,
  eventCount: number,
  findings: Findings,
): Promise<void> => {
  const [below] = await log.read({ before: 1, order: 'asc', limit: 1 })
  if (below !== undefined)
    findings.add(faultAt(below, 'sequence', `event ${below.seq} stands before the first one`))
  if (eventCount <= head.seq || below !== undefined) return
  const seq = head.seq + 1
  const detail = `the log ends at ${head.seq}, but ${eventCount} events were counted`
  findings.add({ reason: 'truncated', seq, id: null, shownAt: seq, detail })
}

/** The walk must end where the store says that the log ends. */
export const checkLast = (last: Head, head: Head, findings: Findings): void => {
  if (last.seq < head.seq) findings.add(faultFrom(missingFault(last.seq + 1)))
  else if (last.hash !== head.hash) {
    const detail = `the store says that the log ends with another event ${head.seq}`
    findings.add({ reason: 'link', seq: head.seq, id: null, shownAt: head.seq, detail })
  }
}
