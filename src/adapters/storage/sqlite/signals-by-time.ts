import { setImmediate } from 'node:timers/promises'
import { categoryOf, type LogRecord } from '../../../core/log/event.ts'
import type { EventLog } from '../../../ports/event-log.ts'
import type { Database, Row } from './database.ts'
import type { KnownNames } from './dictionary.ts'
import { DomainMerge } from './merge.ts'
import type { Records } from './records.ts'

/** Signals in the order of their time, newest first. */
export class SignalsByTime {
  readonly #records: Records
  readonly #names: KnownNames
  readonly #keys: DomainMerge

  constructor(db: Database, records: Records, names: KnownNames) {
    this.#records = records
    this.#names = names
    this.#keys = new DomainMerge(
      db,
      'SELECT ts_ms, seq FROM signal_times WHERE dom = ? AND (ts_ms, seq) < (?, ?)',
      'ts_ms DESC, seq DESC',
    )
  }

  async read({
    domain,
    limit,
    offset,
  }: Parameters<EventLog['readByTime']>[0]): Promise<readonly LogRecord[]> {
    const domains = this.#domains(domain)
    let before: Row = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]
    let toSkip = offset
    // Far offsets are walked in steps, with room for others in between.
    for (; toSkip > SKIP_AT_ONCE; toSkip -= SKIP_AT_ONCE) {
      const [last] = this.#keys.first(domains, before, { limit: 1, offset: SKIP_AT_ONCE - 1 }, newestFirst)
      if (last === undefined) return []
      before = last
      await setImmediate()
    }
    const keys = this.#keys.first(domains, before, { limit, offset: toSkip }, newestFirst)
    return this.#records.at(keys.map(([, seq]) => seq as number))
  }

  #domains(wanted: string | null): readonly number[] {
    const domains: number[] = []
    for (const [name, number] of this.#names.domains()) {
      if (categoryOf(name) === 'signal' && (wanted === null || name === wanted)) domains.push(number)
    }
    return domains
  }
}

const SKIP_AT_ONCE = 5000

const newestFirst = ([oneMs, oneSeq]: Row, [otherMs, otherSeq]: Row): number =>
  Number(otherMs) - Number(oneMs) || Number(otherSeq) - Number(oneSeq)
