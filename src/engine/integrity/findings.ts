import type { ChainFault, ChainFaultKind } from '../../ports/event-log.ts'

/** Why a log is not what it was: the chain's own faults, and what only texts, keys and checkpoints show. */
export type IntegrityReason =
  | ChainFaultKind
  | 'canonical'
  | 'signature'
  | 'checkpoint'
  | 'truncated'
  | 'snapshot'
  | 'tree'
  | 'projections'

export interface Fault {
  readonly reason: IntegrityReason
  /** The first event that cannot be trusted; null when not the log but a checkpoint is damaged. */
  readonly seq: number | null
  readonly id: string | null
  /** The seq at which the fault came to light: of several faults the earliest is reported. */
  readonly shownAt: number
  readonly detail: string
}

export interface Checks {
  readonly hash_chain: CheckResult
  readonly sequence: CheckResult
  readonly signatures: CheckResult
  readonly checkpoint: CheckResult
  /** What is stored beside the events follows from them: snapshot and tree. An export has none. */
  readonly projections?: CheckResult
}

export type CheckResult = 'pass' | 'fail'

/** Shown at the event itself. */
export const faultAt = (
  { seq, id = null }: { readonly seq: number; readonly id?: string | null },
  reason: IntegrityReason,
  detail: string,
): Fault => ({ reason, seq, id, shownAt: seq, detail })

export const faultFrom = ({ kind, detail, ...event }: ChainFault): Fault => faultAt(event, kind, detail)

/** Of what is kept beside the events. What is wrong with an event says more. */
export const faultBeside = (reason: IntegrityReason, detail: string): Fault => ({
  reason,
  seq: null,
  id: null,
  shownAt: Number.MAX_SAFE_INTEGER,
  detail,
})

/** What a verification has found so far: the first fault, and which kinds of check failed. */
export type Findings = ReturnType<typeof createFindings>

export const createFindings = () => {
  let first: Fault | null = null
  const failed = new Set<keyof Checks>()
  const resultOf = (check: keyof Checks): CheckResult => (failed.has(check) ? 'fail' : 'pass')
  return {
    add: (fault: Fault): void => {
      failed.add(CHECK_OF[fault.reason])
      if (first === null || comesBefore(fault, first)) first = fault
    },
    first: (): Fault | null => first,
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
 * The strongest first: of several faults in one event the one that explains the others, as a changed text also breaks its
 * signature.
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

const comesBefore = (fault: Fault, other: Fault): boolean => {
  if (fault.shownAt !== other.shownAt) return fault.shownAt < other.shownAt
  if (fault.reason !== other.reason) return STRENGTH.indexOf(fault.reason) < STRENGTH.indexOf(other.reason)
  // A checkpoint that is itself damaged accuses no event.
  return fault.seq === null && other.seq !== null
}
