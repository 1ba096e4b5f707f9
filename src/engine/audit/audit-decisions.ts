import type { Configuration } from '../../core/config/schema.ts'
import type { LogRecord, Stamped } from '../../core/log/event.ts'
import { nodeId } from '../../core/shared/brand.ts'
import { UNSIGNED_TYPE } from '../../core/operations/unsigned.ts'
import type { State } from '../../core/state.ts'
import { parseCommands, type RequestMade, type StoredCommands } from '../../core/stored-commands.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { yieldToEventLoop } from '../../ports/yield-to-event-loop.ts'
import type { Trust } from '../integrity/trust.ts'
import { catchUp, EMPTY_MEMORY, fold, type Memory } from '../memory.ts'
import { endOfBatch, startOfBatch } from '../batch-bounds.ts'
import { RecordedSettings } from './configurations.ts'
import { FindingList, type AuditReport } from './findings.ts'
import { aligned, bytesOf, differencesOf, rerun, type BatchCircumstances } from './rerun.ts'

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
 * Runs every stored command again on the state before it, and compares the bytes of its events. Holds one page of the
 * log in memory.
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

class DecisionAudit {
  readonly #options: AuditOptions
  readonly #settings: RecordedSettings
  readonly #findings = new FindingList()
  #state: State
  /** State without the differences found so far, or null. Later events may have been decided on it. */
  #repaired: State | null = null
  /** Number of consecutive decisions that only the state of the log explained. */
  #missed = 0

  constructor(state: State, settings: RecordedSettings, options: AuditOptions) {
    this.#state = state
    this.#settings = settings
    this.#options = options
  }

  report(first: number, last: number): AuditReport {
    return this.#findings.report(first, last)
  }

  /** Audits whole batches, in order. */
  async take(records: readonly LogRecord[], events: readonly Stamped[]): Promise<void> {
    let begin = 0
    for (let index = 0; index < records.length; index += 1) {
      const record = records[index] as LogRecord
      if (record.batchSignature === null && index < records.length - 1) continue
      await this.#batch(events.slice(begin, index + 1), record)
      begin = index + 1
    }
  }

  async #batch(events: readonly Stamped[], end: LogRecord): Promise<void> {
    // An event without a valid signature changes nothing. Verification reports it.
    const signed = events.filter(({ type }) => type !== UNSIGNED_TYPE)
    const isWhole = signed.length === events.length
    // First, because a command that records settings was decided with them.
    for (const event of signed) this.#settings.take(event)
    if (!isWhole || end.commands === null) {
      this.#findings.batchWithoutCommands()
      for (const event of signed) this.#findings.notRerun(event, isWhole ? NOT_STORED : NOT_SIGNED)
      this.#advance(events, [])
      return
    }
    const stored = parseCommands(end.commands, events)
    this.#findings.batchAudited()
    if (stored === null) {
      // The writer of the batch has signed a text that no release writes.
      for (const event of events) this.#findings.unexplained(event)
      this.#advance(events, [])
      return
    }
    for (const [place, request] of stored.requests.entries()) {
      await yieldToEventLoop()
      const { command, events: own } = request
      if (command === null) {
        for (const event of own) this.#findings.notRerun(event, TOO_LARGE)
        this.#advance(own, [])
        continue
      }
      this.#request({ ...request, command }, this.#circumstances(stored, place, end.signer ?? ''))
    }
  }

  #request(request: RequestMade, circumstances: BatchCircumstances): void {
    const { events: stored } = request
    const made = this.#lanes().map((state) => ({ state, events: rerun(state, request, circumstances) ?? [] }))
    const exact = made.find(({ events }) => areSame(events, stored))
    if (exact === undefined) {
      this.#differs(
        stored,
        made.map(({ events }) => events),
        circumstances,
      )
      return
    }
    for (const event of stored) this.#findings.same(event)
    if (this.#repaired !== null) this.#missed = exact.state === this.#repaired ? 0 : this.#missed + 1
    if (this.#missed > MISSED_MAX) this.#repaired = null
    this.#advance(stored, this.#repaired === null ? [] : stored)
  }

  /** States on which a command may have been decided. */
  #lanes(): readonly State[] {
    return this.#repaired === null ? [this.#state] : [this.#repaired, this.#state]
  }

  /** Reports the differences of stored events from the most similar ones made again. */
  #differs(
    stored: readonly Stamped[],
    candidates: readonly (readonly Stamped[])[],
    circumstances: BatchCircumstances,
  ): void {
    const [nearest] = candidates
      .map((made) => {
        const pairs = aligned(stored, made)
        const same = pairs.filter(([one, other]) => isSame(stored[one], made[other])).length
        return { made, pairs, score: 2 * pairs.length + 3 * same - made.length }
      })
      .toSorted((one, other) => other.score - one.score)
    const { made, pairs } = nearest ?? { made: [], pairs: [] }
    const why = this.#whyNot(circumstances)
    const partners = new Map(pairs)
    for (const [index, event] of stored.entries()) {
      const partner = made[partners.get(index) ?? -1]
      if (isSame(event, partner)) this.#findings.same(event)
      else if (why !== null) this.#findings.notRerun(event, why)
      else if (partner === undefined) this.#findings.unexplained(event)
      else this.#findings.different(event, differencesOf(event, partner))
    }
    const paired = new Set(pairs.map(([, other]) => other))
    const place = stored[0] as Stamped
    for (const event of made.filter((_, index) => !paired.has(index)))
      if (why === null) this.#findings.missing(event, place)
      else this.#findings.notRerun({ ...event, seq: place.seq }, why)
    this.#advance(stored, renumbered(made, place.seq))
  }

  /** Reason why a difference is not conclusive, or null. */
  #whyNot({ settings, version }: BatchCircumstances): string | null {
    if (settings.isGuess) return NOT_RECORDED
    return version === this.#options.version ? null : `decided by version ${version}`
  }

  /** `repaired`: events that should replace the stored ones; empty if the stored ones are right. */
  #advance(stored: readonly Stamped[], repaired: readonly Stamped[]): void {
    const before = this.#state
    for (const event of stored) this.#state = fold(this.#state, event)
    if (repaired.length === 0) return
    const start = this.#repaired ?? before
    const end = stored.at(-1)?.seq ?? start.seq
    this.#repaired = { ...repaired.reduce(fold, start), seq: end }
    if (repaired !== stored) this.#missed = 0
  }

  #circumstances({ inputs }: StoredCommands, place: number, signer: string): BatchCircumstances {
    const { signatures } = this.#options.trust
    return {
      ...inputs,
      place,
      settings: this.#settings.withDigits(inputs.config),
      nodeId: nodeId(signer),
      isSigned: (claim) => signatures.isSigned(claim),
    }
  }
}

const NOT_RECORDED = 'configuration not recorded'
const TOO_LARGE = 'its command was too large to store'
const NOT_STORED = 'stored without its command'
const NOT_SIGNED = 'part of a batch without a valid signature'

/**
 * Limit of consecutive misses. Beyond it the repaired state is dropped, because the differences influenced later
 * events.
 */
const MISSED_MAX = 50

const isSame = (stored: Stamped | undefined, made: Stamped | undefined): boolean =>
  stored !== undefined && made !== undefined && bytesOf(stored) === bytesOf(made)

const areSame = (one: readonly Stamped[], other: readonly Stamped[]): boolean =>
  one.length === other.length && one.every((event, index) => isSame(event, other[index]))

const renumbered = (events: readonly Stamped[], from: number): readonly Stamped[] =>
  events.map((event, index) => ({ ...event, seq: from + index }))
