import type { ChainFault, ChainFaultKind } from '../../ports/event-log.ts'

/** Reasons why a log fails verification: faults of the chain, and faults of texts, keys and checkpoints. */
export type IntegrityReason =
  | ChainFaultKind
  | 'canonical'
  | 'signature'
  | 'checkpoint'
  | 'truncated'
  | 'snapshot'
  | 'tree'
  | 'projections'

export interface IntegrityFault {
  readonly reason: IntegrityReason
  /** First event that cannot be trusted; null if a checkpoint is damaged instead of the log. */
  readonly seq: number | null
  readonly id: string | null
  /** Seq at which the fault was detected. Of several faults, the earliest is reported. */
  readonly shownAt: number
  readonly detail: string
}

export interface Checks {
  readonly hash_chain: CheckResult
  readonly sequence: CheckResult
  readonly signatures: CheckResult
  readonly checkpoint: CheckResult
  /** Whether snapshot and tree, which are stored beside the events, follow from the events. Absent for an export. */
  readonly projections?: CheckResult
}

export type CheckResult = 'pass' | 'fail'

/** A fault that is detected at the event itself. */
export const faultAt = (
  { seq, id = null }: { readonly seq: number; readonly id?: string | null },
  reason: IntegrityReason,
  detail: string,
): IntegrityFault => ({ reason, seq, id, shownAt: seq, detail })

export const faultFrom = ({ kind, detail, ...event }: ChainFault): IntegrityFault =>
  faultAt(event, kind, detail)

/** A fault in data beside the events. A fault of an event takes precedence over it. */
export const faultBeside = (reason: IntegrityReason, detail: string): IntegrityFault => ({
  reason,
  seq: null,
  id: null,
  shownAt: Number.MAX_SAFE_INTEGER,
  detail,
})

/** Results of a verification so far: the first fault, and which kinds of check failed. */
export type Findings = ReturnType<typeof createFindings>

export const createFindings = () => {
  let first: IntegrityFault | null = null
  const failed = new Set<keyof Checks>()
  const resultOf = (check: keyof Checks): CheckResult => (failed.has(check) ? 'fail' : 'pass')
  return {
    add: (fault: IntegrityFault): void => {
      failed.add(CHECK_OF[fault.reason])
      if (first === null || comesBefore(fault, first)) first = fault
    },
    first: (): IntegrityFault | null => first,
    checks: (): Checks => ({
      hash_chain: resultOf('hash_chain'),
      sequence: resultOf('sequence'),
      signatures: resultOf('signatures'),
      checkpoint: resultOf('checkpoint'),
      projections: resultOf('projections'),
    }),
  }
}

/**
 * Reasons by precedence. Of several faults in one event, the one that explains the others comes first: a changed text,
 * for example, also breaks its signature.
 */
const CHECK_OF: Readonly<Record<IntegrityReason, keyof Checks>> = {
  sequence: 'sequence',
  link: 'hash_chain',
  hash: 'hash_chain',
  field: 'hash_chain',
  order: 'sequence',
  canonical: 'hash_chain',
  signature: 'signatures',
  checkpoint: 'checkpoint',
  truncated: 'checkpoint',
  snapshot: 'projections',
  tree: 'projections',
  projections: 'projections',
}

const STRENGTH = Object.keys(CHECK_OF)

const comesBefore = (fault: IntegrityFault, other: IntegrityFault): boolean => {
  if (fault.shownAt !== other.shownAt) return fault.shownAt < other.shownAt
  if (fault.reason !== other.reason) return STRENGTH.indexOf(fault.reason) < STRENGTH.indexOf(other.reason)
  // A damaged checkpoint is no evidence against an event.
  return fault.seq === null && other.seq !== null
}
