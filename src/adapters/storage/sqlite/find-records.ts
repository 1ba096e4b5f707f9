import { setImmediate } from 'node:timers/promises'
import { hasTypePrefix, type LogRecord, stampedFrom } from '../../../core/log/event.ts'
import { refKey, refsOf } from '../../../core/log/refs.ts'
import type { LogQuery } from '../../../ports/event-log.ts'
import { AboutReader } from './about-index.ts'
import type { Database } from './database.ts'
import type { KnownNames } from './dictionary.ts'
import { DomainMerge } from './merge.ts'
import type { Records } from './records.ts'
import type { Order, SeqBounds } from './seq-bounds.ts'

/** Answers queries through the indexes. A long answer is read in pages, with room for others in between. */
export class RecordFinder {
  readonly #records: Records
  readonly #names: KnownNames
  readonly #about: AboutReader
  readonly #ofDomains: Readonly<Record<Order, DomainMerge>>

  constructor(db: Database, records: Records, names: KnownNames) {
    const ofDomains = (order: Order): DomainMerge =>
      new DomainMerge(db, 'SELECT seq FROM events WHERE dom = ? AND seq > ? AND seq < ?', `seq ${order}`)
    this.#records = records
    this.#names = names
    this.#about = new AboutReader(db)
    this.#ofDomains = { asc: ofDomains('asc'), desc: ofDomains('desc') }
  }

  async find({ after, before, types, about, order, limit }: LogQuery): Promise<readonly LogRecord[]> {
    const source = this.#sourceOf(types, about)
    const found: LogRecord[] = []
    let bounds: SeqBounds = { after: after ?? -SEQ_MAX, before: before ?? SEQ_MAX }
    while (found.length < limit) {
      const { records, lastSeq } = source(bounds, order, Math.min(limit - found.length, PAGE))
      for (const record of records) found.push(record)
      if (lastSeq === null) break
      bounds = order === 'asc' ? { ...bounds, after: lastSeq } : { ...bounds, before: lastSeq }
      if (found.length < limit) await setImmediate()
    }
    return found.length > limit ? found.slice(0, limit) : found
  }

  #sourceOf(types: readonly string[] | undefined, about: string | undefined): Source {
    if (about !== undefined) return this.#aboutSource(about, types)
    if (types === undefined) {
      return (bounds, order, count) => whole(this.#records.between(bounds, order, count), count)
    }
    const { domains, partly } = matchingDomains(this.#names.domains(), types)
    const [domain] = domains
    if (domain === undefined) return () => NOTHING
    if (domains.length === 1 && !partly) {
      return (bounds, order, count) => whole(this.#records.ofDomain(domain, bounds, order, count), count)
    }
    return (bounds, order, count) => {
      const looked = partly ? PAGE : count
      const seqs = this.#seqsOf(domains, bounds, order, looked)
      return { records: this.#records.at(seqs, partly ? types : undefined), lastSeq: endOf(seqs, looked) }
    }
  }

  #aboutSource(about: string, types: readonly string[] | undefined): Source {
    const key = refKey(about)
    return (bounds, order, count) => {
      const looked = types === undefined ? count : PAGE
      const seqs = this.#about.seqs(key, bounds, order, looked).slice(0, looked)
      // Different refs may have one key, so the event itself is asked.
      const records = this.#records.at(seqs, types).filter((record) => isAbout(record, about))
      return { records, lastSeq: endOf(seqs, looked) }
    }
  }

  #seqsOf(
    domains: readonly number[],
    { after, before }: SeqBounds,
    order: Order,
    limit: number,
  ): readonly number[] {
    const bySeq = order === 'asc' ? 1 : -1
    return this.#ofDomains[order]
      .first(
        domains,
        [after, before],
        { limit, offset: 0 },
        ([one], [other]) => bySeq * (Number(one) - Number(other)),
      )
      .map(([seq]) => seq as number)
  }
}

/** Some records within bounds, and the last seq that was looked at; null when there are no more. */
type Source = (bounds: SeqBounds, order: Order, count: number) => Page

interface Page {
  readonly records: readonly LogRecord[]
  readonly lastSeq: number | null
}

const PAGE = 1000
const SEQ_MAX = Number.MAX_SAFE_INTEGER
const NOTHING: Page = { records: [], lastSeq: null }

const whole = (records: readonly LogRecord[], asked: number): Page => ({
  records,
  lastSeq: records.length < asked ? null : (records.at(-1)?.seq ?? null),
})

const endOf = (seqs: readonly number[], asked: number): number | null =>
  seqs.length < asked ? null : (seqs.at(-1) ?? null)

/** The domains that may hold events of these types; `partly` if some hold others too. */
const matchingDomains = (
  known: ReadonlyMap<string, number>,
  types: readonly string[],
): { readonly domains: readonly number[]; readonly partly: boolean } => {
  const domains: number[] = []
  let partly = false
  for (const [name, number] of known) {
    const wholly = types.some((prefix) => hasTypePrefix(name, prefix))
    if (!wholly && !types.some((prefix) => hasTypePrefix(prefix, name))) continue
    domains.push(number)
    partly ||= !wholly
  }
  return { domains, partly }
}

const isAbout = (record: LogRecord, ref: string): boolean => {
  try {
    return refsOf(stampedFrom(record)).includes(ref)
  } catch (error) {
    // A damaged payload is reported by verification; until then it is about nothing.
    if (error instanceof SyntaxError || error instanceof TypeError) return false
    throw error
  }
}
