import type { Stamped } from '../../core/log/event.ts'
import type { Difference } from './rerun.ts'

/** An event that differs from the repeated decision. */
export interface Finding {
  readonly seq: number
  readonly id: string
  readonly type: string
  readonly kind: string
  readonly recorded_at: string
  /**
   * `changed`: the bytes differ. `not_decided`: no decision leads to the event. `missing`: an event that should follow
   * here.
   */
  readonly fault: 'changed' | 'not_decided' | 'missing'
  readonly differences: readonly Difference[]
}

export type AuditReport = ReturnType<FindingList['report']>

const FINDINGS_MAX = 100

type Verdict = 'same' | 'different' | 'not_rerun'

export class FindingList {
  readonly #counts = new Map<string, Record<Verdict, number>>()
  readonly #reasons = new Map<string, number>()
  readonly #findings: Finding[] = []
  #batchesAudited = 0
  #batchesWithoutCommands = 0

  same(event: Stamped): void {
    this.#count(event, 'same')
  }

  batchAudited(): void {
    this.#batchesAudited += 1
  }

  /** Counts a batch that cannot be audited, because a release before stored commands wrote it. */
  batchWithoutCommands(): void {
    this.#batchesWithoutCommands += 1
  }

  notRerun(event: Stamped, reason: string): void {
    this.#count(event, 'not_rerun')
    this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1)
  }

  different(event: Stamped, differences: readonly Difference[]): void {
    this.#find(event, 'changed', differences)
  }

  unexplained(event: Stamped): void {
    this.#find(event, 'not_decided', [])
  }

  missing(event: Stamped, place: Stamped): void {
    this.#find({ ...event, seq: place.seq }, 'missing', [])
  }

  report(first: number, last: number) {
    const kinds = [...this.#counts]
      .map(([kind, counts]) => ({ kind, ...counts }))
      .toSorted((one, other) => (one.kind < other.kind ? -1 : 1))
    const total = (verdict: Verdict): number => kinds.reduce((sum, counts) => sum + counts[verdict], 0)
    const different = total('different')
    return {
      ok: different === 0,
      first_seq: first,
      last_seq: last,
      /** Number of events of audited and not audited commands. */
      decisions: total('same') + different + total('not_rerun'),
      batches: this.#batchesAudited,
      /** Number of batches that could not be audited: releases before 0.2.0 did not store commands. */
      batches_without_commands: this.#batchesWithoutCommands,
      kinds,
      /** Reasons why decisions could not be repeated, with their counts. */
      not_rerun: Object.fromEntries(this.#reasons),
      different,
      /** The first findings. */
      findings: this.#findings as readonly Finding[],
    }
  }

  #find(event: Stamped, fault: Finding['fault'], differences: readonly Difference[]): void {
    this.#count(event, 'different')
    if (this.#findings.length >= FINDINGS_MAX) return
    const { seq, id, type, recordedAt: recorded_at } = event
    this.#findings.push({ seq, id, type, kind: kindOf(type), recorded_at, fault, differences })
  }

  #count({ type }: Stamped, verdict: Verdict): void {
    const kind = kindOf(type)
    const counts = this.#counts.get(kind) ?? { same: 0, different: 0, not_rerun: 0 }
    counts[verdict] += 1
    this.#counts.set(kind, counts)
  }
}

/** Kind of decision that an event belongs to, for people. */
const kindOf = (type: string): string =>
  KINDS.find(([prefix]) => type.startsWith(prefix))?.[1] ?? type.split('.').slice(0, 2).join('.')

const KINDS = [
  ['alert.', 'alert'],
  ['attribution.recorded', 'call'],
  ['attribution.', 'settlement of a call'],
  ['brain.conviction', 'conviction'],
  ['brain.cycle', 'brain cycle'],
  ['brain.regime', 'regime'],
  ['contributor.', 'contributor'],
  ['execution.trade_intent', 'intent'],
  ['execution.order_submitted', 'order'],
  ['execution.order_failed', 'order'],
  ['execution.order_canceled', 'order'],
  ['execution.order_filled', 'fill'],
  ['execution.funding', 'funding'],
  ['execution.position_closed', 'exit'],
  ['execution.position', 'position'],
  ['karma.', 'share of profit'],
  ['learning.outcome', 'outcome of a trade'],
  ['learning.', 'learning run'],
  ['market.', 'bar accepted'],
  ['producer.run', 'producer health'],
  ['signal.', 'signal accepted'],
  ['system.dcg', 'blacklisted symbol'],
  ['system.kill_switch', 'kill switch'],
] as const
