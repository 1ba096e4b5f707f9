import { domainOf, type LogRecord } from '../../../core/log/event.ts'
import { refKey, refsInText } from '../../../core/log/refs.ts'
import { integerArray, textArray } from './binary-arrays.ts'
import type { SqlQuery } from './page-query.ts'
import { INDEXED_UP_TO } from './runs.ts'

/** Few enough that the places of a run stay in its rows, and many enough that a busy symbol has few of them. */
export const RUN_EVENTS_MAX = 1_024

/** What the index is made from. */
export type Indexable = Pick<LogRecord, 'seq' | 'type' | 'source' | 'traceId' | 'payload'>

/** Events that follow each other, as the index will know them: the events themselves are not kept. */
export class IndexRun {
  readonly fromSeq: number
  readonly #domains = new Map<string, number[]>()
  readonly #ids = new Map<number, number[]>()
  #size = 0

  constructor(fromSeq: number) {
    this.fromSeq = fromSeq
  }

  get upTo(): number {
    return this.fromSeq + this.#size - 1
  }

  get isFull(): boolean {
    return this.#size >= RUN_EVENTS_MAX
  }

  add(event: Indexable): void {
    const place = event.seq - this.fromSeq
    if (place !== this.#size) throw new Error(`event ${event.seq} does not follow ${this.upTo}`)
    this.#size += 1
    note(this.#domains, domainOf(event.type), place)
    for (const ref of refsOrNone(event)) note(this.#ids, refKey(ref), place)
  }

  /**
   * Answers one row, or none if the index does not end before the run: of two processes that add the same events one
   * comes first, and the other adds nothing. Whether a run survives a crash does not matter, since it would be made
   * again: nobody waits for the disk.
   */
  get statement(): SqlQuery {
    return {
      name: 'index-run',
      text: INDEX_RUN,
      values: [
        this.fromSeq,
        this.upTo,
        textArray([...this.#domains.keys()]),
        textArray([...this.#domains.values()].map(listOf)),
        integerArray([...this.#domains.values()].map(({ length }) => length)),
        integerArray([...this.#ids.keys()]),
        textArray([...this.#ids.values()].map(listOf)),
      ],
    }
  }
}

const INDEX_RUN = `
WITH run AS (
  INSERT INTO index_runs (from_seq, up_to) SELECT $1::bigint, $2::bigint WHERE ${INDEXED_UP_TO} = $1 - 1
  ON CONFLICT DO NOTHING
  RETURNING from_seq, set_config('synchronous_commit', 'off', true)
), by_domain AS (
  INSERT INTO domain_runs (dom, run, places, count)
  SELECT dom, from_seq, places::smallint[], n + coalesce(
    (SELECT count FROM domain_runs AS before WHERE before.dom = added.dom ORDER BY run DESC LIMIT 1), 0)
  FROM run, unnest($3::text[], $4::text[], $5::bigint[]) AS added (dom, places, n)
), names AS (
  INSERT INTO domains (dom) SELECT unnest($3::text[]) FROM run ON CONFLICT DO NOTHING
), by_id AS (
  INSERT INTO about (k, run, places) SELECT k, from_seq, places::smallint[]
  FROM run, (SELECT unnest($6::bigint[]) AS k, unnest($7::text[]) AS places) AS added
)
SELECT from_seq FROM run`

/** A payload that somebody broke is about nothing, and must not keep those behind it from being found. */
const refsOrNone = (event: Indexable): readonly string[] => {
  try {
    return refsInText(event)
  } catch {
    return []
  }
}

/** An event may name the same thing twice. */
const note = <Key>(places: Map<Key, number[]>, key: Key, place: number): void => {
  const known = places.get(key)
  if (known === undefined) places.set(key, [place])
  else if (known.at(-1) !== place) known.push(place)
}

const listOf = (places: readonly number[]): string => `{${places.join()}}`
