import type { Configuration } from '../../core/config/schema.ts'
import type { LogRecord, Stamped } from '../../core/log/event.ts'
import { nodeId } from '../../core/shared/brand.ts'
import type { BaseRates } from '../../core/reputation/base-rates.ts'
import { UNSIGNED_TYPE } from '../../core/operations/unsigned.ts'
import type { State } from '../../core/state.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { yieldToEventLoop } from '../../ports/yield-to-event-loop.ts'
import type { Trust } from '../integrity/trust.ts'
import { catchUp, EMPTY_MEMORY, fold, type Memory } from '../memory.ts'
import { endOfBatch, startOfBatch } from '../batch-bounds.ts'
import { attemptsAt, type Attempt } from './attempts.ts'
import { RecordedSettings, type Settings } from './configurations.ts'
import { FindingList, type AuditReport } from './findings.ts'
import { aligned, bytesOf, differencesOf, rerun, type Circumstances } from './rerun.ts'

export interface AuditOptions {
  readonly trust: Trust
  /** Current settings, for logs that do not record theirs. */
  readonly configuration: Configuration
  /** Release that runs the audit. */
  readonly version: string
  /** First and last event to audit. Null means the first and last of the log. */
  readonly from: number | null
  readonly to: number | null
  readonly onProgress: (done: number, total: number) => void
}

/**
 * Repeats every stored decision on the state before it, and compares the bytes. Holds one page of the log in memory.
 */
export const auditDecisions = async (log: EventLog, options: AuditOptions): Promise<AuditReport> => {
  const { trust, from, onProgress } = options
  const { seq: head } = await log.head()
  const to = Math.min(options.to ?? head, head)
  const settings = new RecordedSettings(options.configuration)
  const start = from === null || from <= 1 ? EMPTY_MEMORY : await foldedBefore(log, trust, from)
  await settings.readUpTo(log, start.head.seq)
  const audit = new DecisionAudit(start.state, settings, options)
  let read = start
  while (read.head.seq < to) {
    const upTo = Math.min(to, read.head.seq + EVENTS_AT_ONCE)
    const found: { readonly records: readonly LogRecord[]; readonly events: readonly Stamped[] }[] = []
    const next = await catchUp(log, read, {
      trust,
      upTo: await endOfBatch(log, upTo),
      onPage: (page) => found.push(page),
    })
    for (const { records, events } of found) await audit.take(records, events)
    // Missing events cannot be audited. Verification reports them.
    if (next.head.seq <= read.head.seq) break
    read = next
    onProgress(Math.min(read.head.seq, to) - start.head.seq, to - start.head.seq)
  }
  return audit.report(start.head.seq + 1, read.head.seq)
}

const EVENTS_AT_ONCE = 500

const foldedBefore = async (log: EventLog, trust: Trust, from: number): Promise<Memory> =>
  catchUp(log, EMPTY_MEMORY, { trust, upTo: await startOfBatch(log, from) })

/** A decision with all events that followed from it. */
interface Explained {
  readonly attempt: Attempt
  readonly made: readonly Stamped[]
  readonly settings: Settings
  /** True if the explanation holds on the repaired state, false if on the state of the log. */
  readonly isOnRepaired: boolean
}

class DecisionAudit {
  readonly #options: AuditOptions
  readonly #settings: RecordedSettings
  readonly #findings = new FindingList()
  #state: State
  /** State without the differences found so far, or null. Later events may have been decided on it. */
  #repaired: State | null = null
  /** Number of consecutive decisions that only the state of the log explained. */
  #missed = 0
  #rates: BaseRates

  constructor(state: State, settings: RecordedSettings, options: AuditOptions) {
    this.#state = state
    this.#settings = settings
    this.#options = options
    this.#rates = state.reputation.calls.rates
  }

  report(first: number, last: number): AuditReport {
    return this.#findings.report(first, last)
  }

  /** Audits whole batches, in order. */
  async take(records: readonly LogRecord[], events: readonly Stamped[]): Promise<void> {
    let begin = 0
    for (let index = 0; index < records.length; index += 1) {
      const isEnd = records[index]?.batchSignature !== null || index === records.length - 1
      if (!isEnd) continue
      await this.#batch(events.slice(begin, index + 1), records[index]?.signer ?? '')
      begin = index + 1
    }
  }

  async #batch(events: readonly Stamped[], signer: string): Promise<void> {
    let rest = events
    while (rest.length > 0) {
      await yieldToEventLoop()
      rest = rest.slice(this.#root(rest, signer))
    }
  }

  /** Audits the next command of the batch. Returns the number of events that it led to. */
  #root(rest: readonly Stamped[], signer: string): number {
    const [first] = rest
    if (first === undefined) return 0
    // An event without a valid signature changes nothing. Verification reports it.
    if (first.type === UNSIGNED_TYPE) return this.#advance(rest.slice(0, 1), [])
    const explained = this.#exactly(rest, signer)
    const count = explained === null ? this.#differs(rest, signer) : this.#agrees(rest, explained)
    return count
  }

  #agrees(rest: readonly Stamped[], { attempt, made, isOnRepaired }: Explained): number {
    const stored = rest.slice(0, made.length)
    for (const [index, event] of stored.entries())
      if (attempt.kind === 'command' || index >= attempt.events) this.#findings.same(event)
      else this.#findings.given(event, index > 0)
    if (this.#repaired !== null) this.#missed = isOnRepaired ? 0 : this.#missed + 1
    if (this.#missed > MISSED_MAX) this.#repaired = null
    return this.#advance(stored, this.#repaired === null ? [] : stored)
  }

  #lanes(): readonly State[] {
    return this.#repaired === null ? [this.#state] : [this.#repaired, this.#state]
  }

  /** Returns null unless the bytes are equal. */
  #exactly(rest: readonly Stamped[], signer: string): Explained | null {
    for (const settings of this.#candidates(rest))
      for (const state of this.#lanes())
        for (const attempt of longer(attemptsAt(state, rest, { rates: this.#rates }), rest)) {
          const made = rerun(state, attempt, rest, this.#circumstances(settings, signer))
          const least = attempt.kind === 'given' ? attempt.events : 1
          if (made === null || made.length < least || made.length > rest.length) continue
          if (made.every((event, index) => bytesOf(event) === bytesOf(rest[index] as Stamped)))
            return { attempt, made, settings, isOnRepaired: state === this.#repaired }
        }
    return null
  }

  /** Reports events that no attempt explains, with their differences from the most similar attempt. */
  #differs(rest: readonly Stamped[], signer: string): number {
    const [first] = rest as readonly [Stamped, ...Stamped[]]
    const candidates = this.#candidates(rest)
    const [settings] = candidates
    if (settings === undefined) {
      // Without settings, the following events cannot be repeated either.
      for (const event of rest) this.#findings.notRerun(event, NOT_RECORDED)
      return this.#advance(rest, [])
    }
    const nearest = this.#lanes()
      .flatMap((state) =>
        attemptsAt(state, rest, { rates: this.#rates }).map((attempt) => ({ state, attempt })),
      )
      .map(({ state, attempt }) => {
        const made = rerun(state, attempt, rest, this.#circumstances(settings, signer)) ?? []
        const pairs = aligned(rest.slice(0, made.length + ALIGNED_BEYOND), made)
        const same = pairs.filter(([one, other]) => isSame(rest[one], made[other])).length
        return { attempt, made, pairs, score: 2 * pairs.length + 3 * same - made.length }
      })
      .filter(({ pairs }) => pairs.length > 0)
      .toSorted((one, other) => other.score - one.score)[0]
    const why = this.#whyNot(settings)
    if (nearest === undefined) {
      if (why === null) this.#findings.unexplained(first)
      else this.#findings.notRerun(first, why)
      return this.#advance(rest.slice(0, 1), [])
    }
    const { attempt, made, pairs } = nearest
    const count = Math.max(1, (pairs.at(-1)?.[0] ?? 0) + 1)
    const partners = new Map(pairs)
    for (const [index, event] of rest.slice(0, count).entries()) {
      const partner = made[partners.get(index) ?? -1]
      if (attempt.kind === 'given' && index < attempt.events) this.#findings.given(event, index > 0)
      else if (isSame(event, partner)) this.#findings.same(event)
      else if (why !== null) this.#findings.notRerun(event, why)
      else if (partner === undefined) this.#findings.unexplained(event)
      else this.#findings.different(event, differencesOf(event, partner))
    }
    const paired = new Set(pairs.map(([, other]) => other))
    const missing = made.filter((_, index) => !paired.has(index))
    for (const event of missing)
      if (why === null) this.#findings.missing(event, first)
      else this.#findings.notRerun({ ...event, seq: first.seq }, why)
    return this.#advance(rest.slice(0, count), renumbered(made, first.seq))
  }

  /** Reason why a difference is not conclusive, or null. */
  #whyNot(settings: Settings): string | null {
    if (settings.isGuess) return NOT_RECORDED
    const { version } = this.#settings
    return version === this.#options.version ? null : `decided by version ${version}`
  }

  /** `repaired`: events that should replace the stored ones; empty if the stored ones are right. */
  #advance(stored: readonly Stamped[], repaired: readonly Stamped[]): number {
    const isBar = stored[0]?.type === 'market.bar.v1'
    if (isBar) this.#rates = this.#state.reputation.calls.rates
    const before = this.#state
    for (const event of stored) {
      this.#settings.take(event)
      this.#state = fold(this.#state, event)
    }
    if (repaired.length > 0) {
      const start = this.#repaired ?? before
      const end = stored.at(-1)?.seq ?? start.seq
      this.#repaired = { ...repaired.reduce(fold, start), seq: end }
      if (repaired !== stored) this.#missed = 0
    }
    return stored.length
  }

  #candidates(rest: readonly Stamped[]): readonly Settings[] {
    const cycle = rest[0]?.type.startsWith('brain.') === true ? rest.find(isCycle) : undefined
    const hash = cycle?.payload['config_hash']
    return this.#settings.candidates(typeof hash === 'string' ? hash : null)
  }

  #circumstances({ configuration, hash: configHash }: Settings, signer: string): Circumstances {
    const { signatures } = this.#options.trust
    const version = this.#settings.version
    const isSigned: Circumstances['isSigned'] = (claim) => signatures.isSigned(claim)
    return { configuration, configHash, version, nodeId: nodeId(signer), isSigned }
  }
}

const NOT_RECORDED = 'configuration not recorded'

const ALIGNED_BEYOND = 32

/**
 * Limit of consecutive misses. Beyond it the repaired state is dropped, because the differences influenced later
 * events.
 */
const MISSED_MAX = 50

/** Largest number of events from one report of a venue. */
const GIVEN_MAX = 8

const isCycle = ({ type }: Stamped): boolean => type === 'brain.cycle.v1'

const isSame = (stored: Stamped | undefined, made: Stamped | undefined): boolean =>
  stored !== undefined && made !== undefined && bytesOf(stored) === bytesOf(made)

const renumbered = (events: readonly Stamped[], from: number): readonly Stamped[] =>
  events.map((event, index) => ({ ...event, seq: from + index }))

/** A report of a venue leads to several events at once, so attempts with more given events are added. */
const longer = (attempts: readonly Attempt[], rest: readonly Stamped[]): readonly Attempt[] => {
  const isVenue = rest[0]?.type.startsWith('execution.') === true
  if (!isVenue || !attempts.some(({ kind }) => kind === 'given')) return attempts
  const more = Array.from({ length: Math.min(GIVEN_MAX, rest.length) - 1 }, (_, index) => index + 2)
  return [...attempts, ...more.map((events): Attempt => ({ kind: 'given', events }))]
}
