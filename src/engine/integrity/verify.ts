import { createHash } from 'node:crypto'
import { EMPTY_HEAD, headOf, type Head, type LogRecord } from '../../core/log/event.ts'
import type { CheckpointStore, StoredCheckpoints } from '../../ports/checkpoints.ts'
import type { Clock } from '../../ports/clock.ts'
import {
  missingFault,
  StoreUnavailableError,
  type EventLog,
  type RecordedHead,
  type Snapshot,
} from '../../ports/event-log.ts'
import { startOfBatch } from '../batch-bounds.ts'
import { createAudit, type AuditEnd } from './audit.ts'
import {
  createFindings,
  faultAt,
  faultBeside,
  faultFrom,
  type IntegrityFault,
  type Findings,
} from './findings.ts'
import { checkIndex, createDerivedCheck } from './index-check.ts'
import { eventAt, newestFaultOf } from './newest-checkpoint.ts'
import { checkNodesAt, createNodeCheck } from './node-check.ts'
import { reportOf, type IntegrityReport } from './report.ts'
import { missingCheckpointFault } from './recorded-checkpoint.ts'
import { keyEverOf, snapshotFaultOf, type Trust } from './trust.ts'
import { createFold, type Fold } from './trusted-fold.ts'
import { NO_KEYS, type Keys } from '../../core/operations/keys.ts'
import { stretchOf } from '../../core/operations/unsigned.ts'
import { STATE_VERSION, type State } from '../../core/state.ts'
import { yieldToEventLoop } from '../../ports/yield-to-event-loop.ts'
import { catchUp, EMPTY_MEMORY, encodedSlices, type Memory } from '../memory.ts'

export interface VerifyOptions {
  readonly mode: 'fast' | 'full'
  /** Number of the newest events that `fast` checks. */
  readonly n: number
  /** Null for a log without checkpoints, which is in memory. */
  readonly checkpoints: Pick<CheckpointStore, 'read'> | null
  readonly trust: Trust
  /** The fold of a running engine. Without one, the log is folded from the root that this reader trusts. */
  readonly fold?: Fold
  readonly clock: Pick<Clock, 'now'>
  readonly onProgress?: (progress: VerifyProgress) => void
}

/** Steps of a full verification, in this order. Each reads all events. A fast verification has only the second. */
export const VERIFY_STEPS = ['hashes', 'signatures', 'state'] as const

export interface VerifyProgress {
  readonly step: (typeof VERIFY_STEPS)[number]
  readonly checked: number
  readonly total: number
}

/**
 * Fast: checks the newest events, their link to the event before them, and the newest checkpoint. Full: checks
 * everything from the first event, without any trusted state, and the snapshot and tree that are stored beside the
 * events. Memory use is constant. Events that are added during the verification are not checked.
 */
export const verifyLog = async (log: EventLog, options: VerifyOptions): Promise<IntegrityReport> => {
  const startedAt = options.clock.now()
  const { mode, checkpoints, trust } = options
  const findings = createFindings()
  // Read before the head: events stored in between can only make the log longer. A full verification folds the log
  // itself.
  const folded = mode === 'full' ? NOTHING_FOLDED : await foldedFor(log, options, findings)
  const stored = (await checkpoints?.read(mode === 'full' ? 'all' : 'newest')) ?? NO_CHECKPOINTS
  const recorded = (await log.recordedHead?.()) ?? null
  // Checkpoints and count are read before the head: events written in between can only make the log longer.
  const eventCount = await log.count()
  const head = await log.head()
  await checkEnds(log, head, eventCount, findings)
  const end =
    mode === 'full'
      ? await verifyAll(log, head, stored, options, findings)
      : await verifyNewest(log, head, stored, { ...options, memory: folded }, findings)
  checkUnreadable(stored, findings)
  await checkSnapshots(log, end.keys, trust, findings)
  await checkFirst(log, trust, findings)
  const { own } = trust
  const facts = { recorded: end.memory.state.operations.checkpoints, own, head }
  const missing = checkpoints === null ? null : await missingCheckpointFault(log, checkpoints, facts)
  if (missing !== null) findings.add(missing)
  await checkRecordedHead(log, recorded, head, findings)
  return reportOf(findings, {
    mode,
    checked: end.checked,
    eventCount,
    head,
    elapsedMs: options.clock.now() - startedAt,
    remarks: checkpoints === null ? [] : remarksOn(stored, head),
  })
}

const NOTHING_FOLDED: Memory = EMPTY_MEMORY

/** A log that does not fold has no keys, so every signature in it is a fault. */
const foldedFor = async (
  log: EventLog,
  { fold, trust }: VerifyOptions,
  findings: Findings,
): Promise<Memory> => {
  try {
    return (await (fold ?? createFold(log, trust))()).memory
  } catch (error) {
    if (error instanceof StoreUnavailableError) throw error
    findings.add(faultBeside('projections', 'the events do not fold to a state'))
    return NOTHING_FOLDED
  }
}

const NO_CHECKPOINTS: StoredCheckpoints = { notes: [], unreadable: 0 }

const verifyAll = async (
  log: EventLog,
  head: Head,
  { notes }: StoredCheckpoints,
  { trust, onProgress }: VerifyOptions,
  findings: Findings,
): Promise<VerifiedEnd> => {
  const total = head.seq
  const chain = await log.verifyHashes({
    after: 0,
    upTo: total,
    onProgress: (checked) => onProgress?.({ step: 'hashes', checked, total }),
  })
  const audit = createAudit({
    start: EMPTY_HEAD,
    // The store reports only its first fault, so a broken chain is checked again, event by event.
    checkHashes: !chain.ok,
    wholeLog: true,
    isPart: false,
    notes,
    trust,
    findings,
    keys: NO_KEYS,
  })
  const nodes = createNodeCheck(log, findings)
  const derived = createDerivedCheck(log, findings)
  let checked = 0
  for await (const page of log.scan({ after: 0, upTo: total })) {
    await audit.add(page)
    await nodes.add(page)
    await derived.add(page)
    checked += page.length
    onProgress?.({ step: 'signatures', checked, total })
  }
  const end = await audit.end()
  const { hash_chain: hashChain, sequence } = findings.checks()
  if (!chain.ok && hashChain === 'pass' && sequence === 'pass') findings.add(faultFrom(chain))
  checkLast(end.last, head, findings)
  await checkIndex(log, head, end.domains, findings)
  await derived.end(head, end.domains)
  const newest = notes.at(-1)
  if (newest !== undefined && newest.frontier.size > head.seq) {
    const fault = await newestFaultOf(log, newest, head, { keys: end.keys, trust })
    if (fault !== null) findings.add(fault)
  }
  const memory = await checkState(log, trust, head, findings, (folded) =>
    onProgress?.({ step: 'state', checked: folded, total }),
  )
  return { ...end, memory }
}

/** Verified end of the log, and the state folded up to it. */
interface VerifiedEnd extends AuditEnd {
  readonly memory: Memory
}

/**
 * Folds the log again from its first event and compares the state with the stored snapshot, from which the next start
 * continues. Works in small steps, because a service does this while it runs.
 */
const checkState = async (
  log: EventLog,
  trust: Trust,
  head: Head,
  findings: Findings,
  onProgress: (folded: number) => void,
): Promise<Memory> => {
  const snapshots = await newestSnapshots(log, trust)
  const logIsIntact = findings.first() === null
  const onPage = ({ memory }: { readonly memory: { readonly head: Head } }): void =>
    onProgress(memory.head.seq)
  try {
    let memory: Memory = EMPTY_MEMORY
    for (const snapshot of snapshots.toSorted((one, other) => one.seq - other.seq)) {
      // A snapshot saved since the verification began lies beyond its end.
      if (snapshot.seq > head.seq) continue
      memory = await catchUp(log, memory, { trust, upTo: snapshot.seq, onPage })
      if ((await hashInSteps(memory.state)) !== snapshot.stateHash)
        findings.add(
          faultBeside(
            'projections',
            `the snapshot at ${snapshot.seq} does not follow from the events before it`,
          ),
        )
    }
    return await catchUp(log, memory, { trust, upTo: head.seq, onPage })
  } catch (error) {
    // A changed event may not even fold. On an intact log, the same error is a bug.
    if (logIsIntact) throw error
    findings.add(faultBeside('projections', 'the events do not fold to a state'))
    return NOTHING_FOLDED
  }
}

const hashInSteps = async (state: State): Promise<string> => {
  const hash = createHash('sha256')
  for (const slice of encodedSlices(state)) {
    hash.update(slice)
    await yieldToEventLoop()
  }
  return hash.digest('hex')
}

const verifyNewest = async (
  log: EventLog,
  head: Head,
  { notes }: StoredCheckpoints,
  { n, trust, memory, onProgress }: VerifyOptions & { readonly memory: Memory },
  findings: Findings,
): Promise<VerifiedEnd> => {
  const { nodes, unsigned } = memory.state.operations
  // The window reaches back at least to the latest folded event, whose hash ties its events to the trusted root.
  const asked = Math.max(0, Math.min(head.seq - n, memory.head.seq))
  // Starts at the beginning of a batch, because its signature covers all its events.
  const after = asked === 0 ? 0 : await startOfBatch(log, asked + 1)
  await checkFolded(log, memory.head, findings)
  const audit = createAudit({
    start: await headAt(log, after, findings),
    checkHashes: true,
    wholeLog: false,
    isPart: false,
    notes: [],
    trust,
    findings,
    // A key may sign before its retirement inside the window. Events that it signed later are among the unsigned ones.
    keys: { ...nodes, retired: [] },
  })
  const derived = createDerivedCheck(log, findings)
  await derived.sample(head)
  let checked = 0
  for await (const page of log.scan({ after, upTo: head.seq })) {
    await audit.add(page)
    await derived.add(page)
    for (const record of page)
      if (stretchOf(unsigned, record.seq) !== undefined) findings.add(unsignedFault(record))
    checked += page.length
    onProgress?.({ step: 'signatures', checked, total: head.seq - after })
  }
  const end = await audit.end()
  checkLast(end.last, head, findings)
  const newest = notes.at(-1)
  const fault =
    newest === undefined ? null : await newestFaultOf(log, newest, head, { keys: end.keys, trust })
  if (fault !== null) findings.add(fault)
  else if (newest !== undefined) await checkNodesAt(log, newest, findings)
  return { ...end, checked: Math.min(end.checked, head.seq - asked), memory }
}

/** The log must still hold the latest event that this reader has verified. */
const checkFolded = async (log: EventLog, { seq, hash }: Head, findings: Findings): Promise<void> => {
  if (seq === 0) return
  const record = await eventAt(log, seq)
  if (record?.hash === hash) return
  const detail =
    record === null
      ? `event ${seq}, which this node has verified, is gone`
      : `event ${seq} is not the one that this node has verified`
  findings.add(faultAt({ seq, id: record?.id ?? null }, record === null ? 'truncated' : 'link', detail))
}

const unsignedFault = (record: LogRecord): IntegrityFault =>
  faultAt(record, 'signature', `event ${record.seq} is not signed by an accepted key where it stands`)

/**
 * Checks what no walk from 1 to the head can detect: events numbered below 1, and a count that exceeds the number of
 * events.
 */
const checkEnds = async (
  log: EventLog,
  head: Head,
  eventCount: number,
  findings: Findings,
): Promise<void> => {
  const [below] = await log.read({ before: 1, order: 'asc', limit: 1 })
  if (below !== undefined)
    findings.add(faultAt(below, 'sequence', `event ${below.seq} stands before the first one`))
  if (eventCount <= head.seq || below !== undefined) return
  const detail = `the log ends at ${head.seq}, but ${eventCount} events were counted`
  findings.add(faultAt({ seq: head.seq + 1 }, 'truncated', detail))
}

/** The walk must end at the head that the store reports. */
const checkLast = (last: Head, head: Head, findings: Findings): void => {
  if (last.seq < head.seq) findings.add(faultFrom(missingFault(last.seq + 1)))
  else if (last.hash !== head.hash) {
    const detail = `the store says that the log ends with another event ${head.seq}`
    findings.add(faultAt({ seq: head.seq }, 'link', detail))
  }
}

/** A log that was exchanged as a whole is consistent, but contradicts the first hash that this node has pinned. */
const checkFirst = async (log: EventLog, { firstHash }: Trust, findings: Findings): Promise<void> => {
  if (firstHash === null) return
  const [first] = await log.read({ order: 'asc', limit: 1 })
  if (first?.hash === firstHash) return
  const detail =
    first === undefined
      ? 'the log is empty, but this node has written to it'
      : 'the log does not begin with the event that this node has pinned: it was exchanged'
  findings.add(faultAt({ seq: 1 }, 'truncated', detail))
}

/** The last acknowledged event must be present, even if no checkpoint covers it. */
const checkRecordedHead = async (
  log: EventLog,
  recorded: RecordedHead | null,
  head: Head,
  findings: Findings,
): Promise<void> => {
  if (recorded === null) return
  if (recorded.seq > head.seq) {
    const lost = recorded.seq - head.seq
    const missing = lost === 1 ? '1 event is lost' : `${lost} events are lost`
    const detail =
      `the log ends at ${head.seq}, but ${recorded.seq} events were acknowledged: ${missing}, as when the journal of the ` +
      `database is deleted or damaged; ${ACCEPT_LOSS}`
    return findings.add(faultAt({ seq: head.seq + 1 }, 'truncated', detail))
  }
  const record = await eventAt(log, recorded.seq)
  if (record?.hash === recorded.hash) return
  const { seq } = recorded
  const detail = `event ${seq} is not the one that was acknowledged: the log had lost its end; ${ACCEPT_LOSS}`
  findings.add(faultAt({ seq, id: record?.id ?? null }, 'truncated', detail))
}

const ACCEPT_LOSS =
  'put the files back, or accept the loss with "svc integrity --accept-loss --reason <text>"'

/**
 * Checks the latest snapshot of all, and the one from which the next start of this node continues. Neither is part of
 * the log.
 */
const checkSnapshots = async (log: EventLog, keys: Keys, trust: Trust, findings: Findings): Promise<void> => {
  for (const snapshot of await newestSnapshots(log, trust)) {
    const publicKey = keyEverOf(keys, snapshot.signer, trust)
    const detail = await snapshotFaultOf(snapshot, trust.signatures, publicKey)
    if (detail !== null) findings.add(faultBeside('snapshot', detail))
  }
}

const newestSnapshots = async (log: EventLog, { own }: Trust): Promise<readonly Snapshot[]> => {
  const newest = await log.loadSnapshot(STATE_VERSION)
  const ours =
    own === null || newest?.signer === own.nodeId ? null : await log.loadSnapshot(STATE_VERSION, own.nodeId)
  return [newest, ours].filter((snapshot) => snapshot !== null)
}

/** The event before the window, whose hash the first event of the window must name. */
const headAt = async (log: EventLog, seq: number, findings: Findings): Promise<Head> => {
  if (seq === 0) return EMPTY_HEAD
  const record = await eventAt(log, seq)
  if (record !== null) return headOf(record)
  findings.add(faultFrom(missingFault(seq)))
  return { ...EMPTY_HEAD, seq }
}

const checkUnreadable = ({ notes, unreadable }: StoredCheckpoints, findings: Findings): void => {
  // A single unreadable piece may be the first checkpoint, cut off by a crash.
  if (notes.length > 0 || unreadable < 2) return
  findings.add(faultBeside('checkpoint', 'there are checkpoints, but none of them can be read'))
}

const remarksOn = ({ notes, unreadable }: StoredCheckpoints, head: Head): readonly string[] => {
  const newest = notes.at(-1)?.frontier.size
  const remarks =
    newest === undefined
      ? ['there is no checkpoint yet']
      : [`the newest checkpoint is at ${newest} of ${head.seq}`]
  if (unreadable > 0) remarks.push(`unreadable pieces among the checkpoints: ${unreadable}`)
  return remarks
}
