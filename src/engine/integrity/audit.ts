import type { SignedCheckpoint } from '../../core/log/checkpoint.ts'
import { domainOf, type Head, headOf, type LogRecord } from '../../core/log/event.ts'
import { BatchCutter, type Stretch } from '../../core/log/batch.ts'
import { evolveKeys, keyEventIn, keyOfBatch, type Keys } from '../../core/operations/keys.ts'
import { faultAt, type Findings } from './findings.ts'
import { yieldToEventLoop } from '../../ports/yield-to-event-loop.ts'
import { canonicalFaultOf, columnFaultOf, SLICE_EVENTS, withTexts } from './record-check.ts'
import { sha256Hex } from '../sha256.ts'
import { keyIn } from './signer-keys.ts'
import { keyEverOf, keyOf, type Trust } from './trust.ts'
import { createTreeCheck, type SignatureClaim } from './tree-check.ts'

export interface AuditOptions {
  /** The event before the first one. */
  readonly start: Head
  /** False if the hashes were checked already. */
  readonly checkHashes: boolean
  /** True if the first event is number 1. Otherwise the tree cannot be built. */
  readonly wholeLog: boolean
  /**
   * True for a part of a log, which lacks the keys that were accepted before it. Signatures with unknown keys are then
   * counted, not reported as faults.
   */
  readonly isPart: boolean
  /** Checkpoints, smallest first. Those below the first event are left out. */
  readonly notes: readonly SignedCheckpoint[]
  readonly trust: Trust
  readonly findings: Findings
  /** Keys that were accepted before the first event. */
  readonly keys: Keys
}

export type Audit = ReturnType<typeof createAudit>

export interface AuditEnd {
  readonly checked: number
  readonly last: Head
  /** Size of the largest checkpoint that the events agree with. */
  readonly proven: number
  /** Number of signatures that could not be checked, because a part of a log lacks their keys. */
  readonly unknownSigners: number
  /** Number of events by domain. */
  readonly domains: ReadonlyMap<string, number>
  /** Accepted keys after the last event. */
  readonly keys: Keys
}

/**
 * Checks every event: its columns, its text, its signature and its place in the checkpoints. Holds one page in memory.
 */
export const createAudit = (options: AuditOptions) => {
  const { findings, trust, isPart, wholeLog } = options
  const cutter = new BatchCutter(sha256Hex)
  let { keys } = options
  const treeKeys = new Map(keys.publicKeys)
  const notes = options.notes.filter(({ frontier }) => frontier.size > options.start.seq)
  const tree = createTreeCheck(notes, {
    leafKeys: treeKeys,
    noteKey: (nodeId) => keyEverOf(keys, nodeId, trust),
    wholeLog,
  })
  const domains = new Map<string, number>()
  let last = options.start
  let checked = 0
  let unknownSigners = 0
  let inWork: Promise<void> = Promise.resolve()

  const look = (record: LogRecord): readonly SignatureClaim[] => {
    const columnFault =
      columnFaultOf(record, last, { rehash: options.checkHashes }) ?? canonicalFaultOf(record)
    if (columnFault !== null) findings.add(columnFault)
    const introduced = keyIn(record)
    if (introduced !== null && !treeKeys.has(introduced.nodeId))
      treeKeys.set(introduced.nodeId, introduced.publicKey)
    // Comes first, because a checkpoint that ends here may be signed with a key that this batch introduces.
    const batchClaims = cutter.add(record).flatMap(claimsOf)
    const { faults, claims } = tree.add(record)
    for (const fault of faults) findings.add(fault)
    const domain = domainOf(record.type)
    domains.set(domain, (domains.get(domain) ?? 0) + 1)
    last = headOf(record)
    checked += 1
    return [...batchClaims, ...claims]
  }

  /** Claims of the signatures of a stretch: the batch signs the place of the events, and each event its content. */
  const claimsOf = (stretch: Stretch): readonly SignatureClaim[] => {
    if (stretch.kind === 'loose') return looseFrom(stretch.records)
    const { records, signer, text, signature: signatureHex } = stretch.batch
    const publicKeyHex = keyOf(keys, signer, trust) ?? keyOfBatch(keys, signer, records)
    const [first] = records
    if (first === undefined) return []
    if (publicKeyHex === undefined) {
      unknownSigners += records.length
      if (!isPart)
        findings.add(
          faultAt(first, 'signature', `the key of ${signer}, who signed event ${first.seq}, is not accepted`),
        )
      return []
    }
    for (const record of records) {
      const event = keyEventIn(record)
      if (event !== null) keys = evolveKeys(keys, event)
    }
    const place = `event ${first.seq} does not have a signature of ${signer} for its place in the log`
    return [
      { signed: { text, signatureHex, publicKeyHex }, fault: faultAt(first, 'signature', place) },
      ...records.flatMap((record) => payloadClaimOf(record, publicKeyHex)),
    ]
  }

  const payloadClaimOf = (record: LogRecord, publicKeyHex: string): readonly SignatureClaim[] => {
    const { seq, payload, signature, signer } = record
    if (signature === null) {
      findings.add(faultAt(record, 'signature', `event ${seq} is not signed`))
      return []
    }
    const fault = faultAt(record, 'signature', `event ${seq} does not have a signature of ${signer}`)
    return [{ signed: { text: payload, signatureHex: signature, publicKeyHex }, fault }]
  }

  const looseFrom = (records: readonly LogRecord[]): readonly SignatureClaim[] => {
    const [first] = records
    // A part of a log may begin inside a batch.
    const isCutOff = isPart && first !== undefined && first.seq === options.start.seq + 1
    if (isCutOff) unknownSigners += records.length
    else if (first !== undefined)
      findings.add(faultAt(first, 'signature', `event ${first.seq} is in no signed batch`))
    return []
  }

  const settle = async (claims: readonly SignatureClaim[]): Promise<void> => {
    for (const index of await trust.signatures.verifyAll(claims.map(({ signed }) => signed))) {
      const claim = claims[index]
      if (claim !== undefined) findings.add(claim.fault)
    }
  }

  return {
    /** The next events, in order. */
    add: async (page: readonly LogRecord[]): Promise<void> => {
      const claims: SignatureClaim[] = []
      for (let from = 0; from < page.length; from += SLICE_EVENTS) {
        for (const record of page.slice(from, from + SLICE_EVENTS)) claims.push(...look(withTexts(record)))
        await yieldToEventLoop()
      }
      // The threads check this page while the next one is read. At most one page waits for them.
      await inWork
      inWork = settle(claims)
      // The failure is thrown when it is awaited. Until then it must not count as unhandled.
      inWork.catch(() => undefined)
    },
    end: async (): Promise<AuditEnd> => {
      await inWork
      await settle(cutter.end().flatMap(claimsOf))
      return { checked, last, proven: tree.proven(), unknownSigners, domains, keys }
    },
  }
}
