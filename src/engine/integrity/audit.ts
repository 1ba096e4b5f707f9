import type { SignedCheckpoint } from '../../core/log/checkpoint.ts'
import { domainOf, type Head, headOf, type LogRecord } from '../../core/log/event.ts'
import type { Signatures } from '../../ports/signatures.ts'
import type { Findings } from './findings.ts'
import { yieldToEventLoop } from '../../ports/yield-to-event-loop.ts'
import { canonicalFaultOf, columnFaultOf, faultAt, SLICE_EVENTS, withTexts } from './record-check.ts'
import { keyIn, type SignerKeys } from './signer-keys.ts'
import { createTreeCheck, type SignatureClaim } from './tree-check.ts'

export interface AuditOptions {
  /** The event before the first one. */
  readonly start: Head
  /** False where the hashes were checked already. */
  readonly checkHashes: boolean
  /** Whether the first event is number 1: only then can the tree be grown. */
  readonly wholeLog: boolean
  /** Whether a signature whose key is not known is a fault, or only not checked here. */
  readonly unverifiable: 'fault' | 'count'
  /** Smallest first. Those below the first event are left out. */
  readonly notes: readonly SignedCheckpoint[]
  readonly signatures: Signatures
  readonly findings: Findings
  /** Keys that were introduced before the first event. */
  readonly findKeys: (nodeIds: ReadonlySet<string>) => Promise<SignerKeys>
}

export interface Audit {
  /** The next events, in order. */
  add(page: readonly LogRecord[]): Promise<void>
  end(): Promise<AuditEnd>
}

export interface AuditEnd {
  readonly checked: number
  readonly last: Head
  /** Size of the largest checkpoint that the events agree with. */
  readonly proven: number
  /** Signatures that could not be checked since part of a log does not hold their key. */
  readonly unknownSigners: number
  /** How many events each domain has. */
  readonly domains: ReadonlyMap<string, number>
}

/** Looks at every event: its columns, its text, its signature and its place in the checkpoints. Holds one page. */
export const createAudit = (options: AuditOptions): Audit => {
  const { findings, signatures, unverifiable, wholeLog } = options
  const keys = new Map<string, string>()
  const notes = options.notes.filter(({ frontier }) => frontier.size > options.start.seq)
  const tree = createTreeCheck(notes, keys, { wholeLog })
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
    if (introduced !== null && !keys.has(introduced.nodeId)) keys.set(introduced.nodeId, introduced.publicKey)
    const { faults, claims } = tree.add(record)
    for (const fault of faults) findings.add(fault)
    const domain = domainOf(record.type)
    domains.set(domain, (domains.get(domain) ?? 0) + 1)
    last = headOf(record)
    checked += 1
    return [...claimsOf(record), ...claims]
  }

  const claimsOf = (record: LogRecord): readonly SignatureClaim[] => {
    const { seq, signature, signer } = record
    if (signature === null || signer === null) {
      findings.add(faultAt(record, 'signature', `event ${seq} is not signed`))
      return []
    }
    const publicKeyHex = keys.get(signer)
    if (publicKeyHex === undefined) {
      unknownSigners += 1
      if (unverifiable === 'fault')
        findings.add(
          faultAt(record, 'signature', `the key of ${signer}, who signed event ${seq}, is not known`),
        )
      return []
    }
    return [
      {
        signed: { text: record.payload, signatureHex: signature, publicKeyHex },
        fault: faultAt(record, 'signature', `event ${seq} does not have a signature of ${signer}`),
      },
    ]
  }

  const settle = async (claims: readonly SignatureClaim[]): Promise<void> => {
    for (const index of await signatures.verifyAll(claims.map(({ signed }) => signed))) {
      const claim = claims[index]
      if (claim !== undefined) findings.add(claim.fault)
    }
  }

  return {
    add: async (page) => {
      const unknown = new Set(
        page.flatMap(({ signer }) => (signer === null || keys.has(signer) ? [] : [signer])),
      )
      if (unknown.size > 0) for (const [id, key] of await options.findKeys(unknown)) keys.set(id, key)
      const claims: SignatureClaim[] = []
      for (let from = 0; from < page.length; from += SLICE_EVENTS) {
        for (const record of page.slice(from, from + SLICE_EVENTS)) claims.push(...look(withTexts(record)))
        await yieldToEventLoop()
      }
      // The threads check this page while the next one is read; never more than one page waits for them.
      await inWork
      inWork = settle(claims)
      // Its failure is thrown where it is waited for; until then it must not count as unhandled.
      inWork.catch(() => undefined)
    },
    end: async () => {
      await inWork
      return { checked, last, proven: tree.proven(), unknownSigners, domains }
    },
  }
}
