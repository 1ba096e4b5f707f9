import { hash as digest } from 'node:crypto'
import { EMPTY_HEAD, headOf } from '../../../core/log/event.ts'
import {
  chainFaultOf,
  missingFault,
  type ChainFault,
  type ChainReport,
  type VerifyRange,
} from '../../../ports/event-log.ts'
import { readPage, type Query } from './records.ts'

const SLICE_EVENTS = 10_000
const SLICES_AT_ONCE = 2

/** The server hashes where the rows lie. Slices bound its memory and time; each trusts the stored hash before it. */
export const verifyHashes = async (
  query: Query,
  { after, upTo, onProgress }: VerifyRange,
  sliceEvents = SLICE_EVENTS,
): Promise<ChainReport> => {
  let checkedUpTo = after
  while (checkedUpTo < upTo) {
    const starts = Array.from({ length: SLICES_AT_ONCE }, (_, index) => checkedUpTo + index * sliceEvents)
    const suspects = await Promise.all(
      starts
        .filter((start) => start < upTo)
        .map((start) => firstSuspect(query, start, Math.min(start + sliceEvents, upTo))),
    )
    const suspect = suspects.find((seq) => seq !== null) ?? null
    if (suspect !== null) {
      return { ok: false, checked: Math.max(0, suspect - after - 1), ...(await faultAt(query, suspect)) }
    }
    checkedUpTo = Math.min(checkedUpTo + SLICES_AT_ONCE * sliceEvents, upTo)
    onProgress?.(checkedUpTo - after)
  }
  return { ok: true, checked: checkedUpTo - after }
}

/** The first seq from `after` to `upTo` that is missing, or behind `after` and not what it should be. */
const firstSuspect = async (query: Query, after: number, upTo: number): Promise<number | null> => {
  const [row] = await query<[firstSeq: number | null, lastSeq: number | null, suspect: number | null]>({
    name: 'verify',
    text: FIRST_SUSPECT,
    values: [after, upTo],
  })
  const [firstSeq, lastSeq, suspect] = row ?? [null, null, null]
  if (after > 0 && firstSeq !== after) return after
  if (suspect !== null) return suspect
  return lastSeq === upTo ? null : (lastSeq ?? after) + 1
}

/*
 * Finds only the place; the fault is described by the same code for every adapter.
 * A row that leaves a gap before it accuses the first seq of the gap.
 */
const FIRST_SUSPECT = `
SELECT
  (SELECT min(seq) FROM events WHERE seq >= $1 AND seq <= $2),
  (SELECT max(seq) FROM events WHERE seq >= $1 AND seq <= $2),
  (SELECT coalesce(seq_before, $1) + 1 FROM (
    SELECT *, lag(seq) OVER by_seq AS seq_before, lag(hash) OVER by_seq AS hash_before,
      lag(recorded_at) OVER by_seq AS recorded_before
    FROM events WHERE seq >= $1 AND seq <= $2 WINDOW by_seq AS (ORDER BY seq)
  ) AS linked
  WHERE seq > $1 AND (seq <> coalesce(seq_before, $1) + 1
    OR prev_hash <> coalesce(hash_before, '')
    OR hash <> sha256(convert_to(encode(prev_hash, 'hex') || '|' || ts || '|' || id || '|' || type || '|'
      || schema_version || '|' || coalesce(source, '') || '|' || coalesce(trace_id, '') || '|'
      || coalesce(dedupe_key, '') || '|' || payload, 'UTF8'))
    OR '' IN (ts, id, type, schema_version, source, trace_id, dedupe_key)
    OR ts || id || type || schema_version || coalesce(source, '') || coalesce(trace_id, '')
      || coalesce(dedupe_key, '') ~ '[|\\u0001-\\u001f\\u007f]'
    OR recorded_at !~ '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$'
    OR recorded_at < recorded_before)
  ORDER BY seq LIMIT 1)`

const faultAt = async (query: Query, seq: number): Promise<ChainFault> => {
  const rows = await readPage(query, { after: seq - 2, before: seq + 1, order: 'asc', limit: 2 })
  const record = rows.find((row) => row.seq === seq)
  if (record === undefined) return missingFault(seq)
  const before = rows.find((row) => row.seq === seq - 1)
  const previous = before === undefined ? EMPTY_HEAD : headOf(before)
  const fault = chainFaultOf(previous, record, (text) => digest('sha256', text, 'hex'))
  if (fault === null) throw new Error(`the server rejects event ${seq}, but nothing is wrong with it`)
  return fault
}
