import { EMPTY_HEAD, type Head, type LogRecord } from '../../core/log/event.ts'
import type { StoredCheckpoints } from '../../ports/checkpoints.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Signatures } from '../../ports/signatures.ts'
import { createAudit, type Audit, type AuditEnd } from './audit.ts'
import { openCopy, parseExportLine } from './backup-file.ts'
import { NO_KEYS, type Keys } from '../../core/operations/keys.ts'
import type { SignedCheckpoint } from '../../core/log/checkpoint.ts'
import { createFindings, faultAt, type Findings } from './findings.ts'
import { reportOf, type IntegrityReport } from './report.ts'

export interface OfflineOptions {
  readonly signatures: Signatures
  readonly clock: Pick<Clock, 'now'>
  /** Checkpoints that are kept apart from the export. Without them a missing end cannot be detected. */
  readonly checkpoints?: StoredCheckpoints
  /** Receives the verified records, as long as no fault was found. Reading ends after the first fault. */
  readonly onPage?: (records: readonly LogRecord[]) => Promise<void>
}

export interface OfflineReport extends IntegrityReport<'offline'> {
  /** Number of the first event in the export. */
  readonly first_seq: number
  /** True if the export does not begin with event 1. The history before its first event is then trusted. */
  readonly partial: boolean
  readonly unchecked_signatures: number
}

/** Result of examining a copy of a log. */
export interface ExaminedCopy {
  readonly report: OfflineReport
  /** The checkpoint of a backup; null for a plain export. */
  readonly checkpoint: SignedCheckpoint | null
  readonly firstHash: string | null
  /** Accepted keys after its last event. */
  readonly keys: Keys
}

/** Verifies an export (one event record as JSON per line) or a backup, without a database. Memory use is constant. */
export const verifyExport = async (
  lines: AsyncIterable<string>,
  options: OfflineOptions,
): Promise<OfflineReport> => (await examineCopy(lines, options)).report

/** Verifies a copy, and returns further facts about it. */
export const examineCopy = async (
  source: AsyncIterable<string>,
  { signatures, clock, checkpoints, onPage }: OfflineOptions,
): Promise<ExaminedCopy> => {
  const startedAt = clock.now()
  const findings = createFindings()
  const { checkpoint, lines } = await openCopy(source)
  const notes = [...(checkpoints?.notes ?? []), ...(checkpoint === null ? [] : [checkpoint])].sort(
    (one, other) => one.frontier.size - other.frontier.size,
  )
  let firstHash: string | null = null
  let audit: Audit | null = null
  let start: Head = EMPTY_HEAD
  for await (const page of pagesOf(lines, findings)) {
    if (audit === null) {
      firstHash = page[0]?.hash ?? null
      start = headBefore(page[0])
      const wholeLog = start.seq === 0
      audit = createAudit({
        start,
        checkHashes: true,
        wholeLog,
        isPart: !wholeLog,
        notes,
        trust: { signatures, own: null, firstHash: null },
        findings,
        keys: NO_KEYS,
      })
    }
    await audit.add(page)
    if (onPage === undefined) continue
    if (findings.first() !== null) break
    await onPage(page)
  }
  const end = (await audit?.end()) ?? NOTHING
  const partial = start.seq > 0
  const newest = notes.at(-1)
  // If reading stopped early, the end of the copy is unknown and not compared.
  const wasRead = onPage === undefined || findings.first() === null
  if (!partial && wasRead && newest !== undefined && newest.frontier.size > end.last.seq) {
    const detail = `the export ends at ${end.last.seq}, but the log had ${newest.frontier.size} events on ${newest.time}`
    findings.add(faultAt({ seq: end.last.seq + 1 }, 'truncated', detail))
  }
  const examined = reportOf(findings, {
    mode: 'offline',
    checked: end.checked,
    eventCount: end.checked,
    head: end.last,
    elapsedMs: clock.now() - startedAt,
    remarks: remarksOn(start, end, notes.length),
  })
  // An export holds no data beside the events.
  const { projections: _none, ...checks } = examined.checks
  const report = {
    ...examined,
    checks,
    first_seq: end.checked === 0 ? 0 : start.seq + 1,
    partial,
    unchecked_signatures: partial ? end.unknownSigners : 0,
  }
  return { report, checkpoint, firstHash, keys: end.keys }
}

const PAGE_SIZE = 500

const NOTHING: AuditEnd = {
  checked: 0,
  last: EMPTY_HEAD,
  proven: 0,
  unknownSigners: 0,
  domains: new Map(),
  keys: NO_KEYS,
}

async function* pagesOf(
  lines: AsyncIterable<string>,
  findings: Findings,
): AsyncIterable<readonly LogRecord[]> {
  let page: LogRecord[] = []
  let lineNumber = 0
  let lastSeq: number | null = null
  for await (const line of lines) {
    lineNumber += 1
    if (line.trim() === '') continue
    const parsed = parseExportLine(line)
    if (parsed.status === 'malformed') {
      const seq: number | null = parsed.seq ?? (lastSeq === null ? null : lastSeq + 1)
      const detail = `line ${lineNumber}: ${parsed.why}`
      // Sorted before the gap that the rejected line leaves, because it is the cause of that gap.
      findings.add({ reason: parsed.reason, seq, id: parsed.id, shownAt: (lastSeq ?? 0) + 0.5, detail })
      continue
    }
    lastSeq = parsed.record.seq
    page.push(parsed.record)
    if (page.length < PAGE_SIZE) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}

/** A partial export states itself what came before it, which is trusted. */
const headBefore = (first: LogRecord | undefined): Head =>
  first === undefined || first.seq <= 1
    ? EMPTY_HEAD
    : { seq: first.seq - 1, hash: first.prevHash, recordedAt: '' }

const remarksOn = (start: Head, end: AuditEnd, notes: number): readonly string[] => {
  const remarks: string[] = []
  if (start.seq > 0)
    remarks.push(`the export begins with event ${start.seq + 1}: the hash before it is trusted`)
  if (start.seq > 0 && end.unknownSigners > 0) {
    remarks.push(`${end.unknownSigners} signatures could not be checked: their keys were introduced earlier`)
  }
  if (notes === 0) remarks.push('without checkpoints a cut end does not show')
  else remarks.push(`the largest checkpoint it agrees with is at ${end.proven}`)
  return remarks
}
