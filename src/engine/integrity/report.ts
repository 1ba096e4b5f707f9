import type { Head } from '../../core/log/event.ts'
import type { Checks, Findings, IntegrityReason } from './findings.ts'

/** Result of a verification. The members up to `elapsed_ms` are those of GET /integrity. */
export interface IntegrityReport<Mode extends string = 'fast' | 'full'> {
  readonly ok: boolean
  readonly mode: Mode
  readonly checked: number
  readonly event_count: number
  readonly first_bad_id: string | null
  readonly first_bad_seq: number | null
  readonly reason: IntegrityReason | null
  readonly head_seq: number
  readonly head_hash: string
  readonly elapsed_ms: number
  readonly checks: Checks
  /** One line for people. */
  readonly detail: string
}

export const reportOf = <Mode extends string>(
  findings: Findings,
  facts: {
    readonly mode: Mode
    readonly checked: number
    readonly eventCount: number
    readonly head: Pick<Head, 'seq' | 'hash'>
    readonly elapsedMs: number
    /** Further remarks for people. */
    readonly remarks: readonly string[]
  },
): IntegrityReport<Mode> => {
  const fault = findings.first()
  return {
    ok: fault === null,
    mode: facts.mode,
    checked: facts.checked,
    event_count: facts.eventCount,
    first_bad_id: fault?.id ?? null,
    first_bad_seq: fault?.seq ?? null,
    reason: fault?.reason ?? null,
    head_seq: facts.head.seq,
    head_hash: facts.head.hash,
    elapsed_ms: facts.elapsedMs,
    checks: findings.checks(),
    detail: [fault?.detail ?? `${facts.checked} events are as they were recorded`, ...facts.remarks].join(
      '; ',
    ),
  }
}
