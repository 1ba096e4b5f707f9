import { hash as digest } from 'node:crypto'
import type { LogRecord } from '../../../core/log/event.ts'
import { fieldFaultOf, hashOf } from '../../../core/log/hash-chain.ts'
import type { ChainReport, VerifyRange } from '../../../ports/event-log.ts'
import { readHead, readPage, type Ask } from './reader.ts'

const SLICE_EVENTS = 10_000
const SLICES_AT_ONCE = 2

type Fault = Omit<Extract<ChainReport, { ok: false }>, 'ok' | 'checked'>

/** The server hashes where the rows lie. Slices bound its memory and time; each begins at the stored hash before it. */
export const verifyHashes = async (
  ask: Ask,
  { after, upTo, onProgress }: VerifyRange,
): Promise<ChainReport> => {
  const end = Math.min(upTo, (await readHead(ask)).seq)
  let checkedUpTo = Math.min(after, end)
  while (checkedUpTo < end) {
    const starts = Array.from({ length: SLICES_AT_ONCE }, (_, index) => checkedUpTo + index * SLICE_EVENTS)
    const slices = starts.filter((start) => start < end)
    const suspects = await Promise.all(
      slices.map((start) => firstSuspect(ask, start, Math.min(start + SLICE_EVENTS, end))),
    )
    const suspect = suspects.find((seq) => seq !== null) ?? null
    if (suspect !== null) return { ok: false, checked: suspect - after - 1, ...(await faultAt(ask, suspect)) }
    checkedUpTo = Math.min(checkedUpTo + SLICE_EVENTS * SLICES_AT_ONCE, end)
    onProgress?.(checkedUpTo - after)
  }
  return { ok: true, checked: checkedUpTo - after }
}

/** The first seq in (after, upTo] that is missing or does not verify. */
const firstSuspect = async (ask: Ask, after: number, upTo: number): Promise<number | null> => {
  const [row] = await ask<[lastSeq: number | null, suspect: number | null]>({
    name: 'verify',
    text: FIRST_SUSPECT,
    values: [after, upTo],
  })
  const [lastSeq, suspect] = row ?? [null, null]
  if (suspect !== null) return suspect
  return lastSeq === upTo ? null : (lastSeq ?? after) + 1
}

// A row that leaves a gap before it accuses the first seq of the gap.
const FIRST_SUSPECT = `
SELECT (SELECT max(seq) FROM events WHERE seq > $1 AND seq <= $2), (
  SELECT coalesce(seq_before, $1) + 1 FROM (
    SELECT *, lag(seq) OVER by_seq AS seq_before,
      coalesce(lag(hash) OVER by_seq, (SELECT hash FROM events WHERE seq = $1), '') AS hash_before
    FROM events WHERE seq > $1 AND seq <= $2 WINDOW by_seq AS (ORDER BY seq)
  ) AS linked
  WHERE seq <> coalesce(seq_before, $1) + 1
    OR prev_hash <> hash_before
    OR '' IN (ts, id, type, schema_version, source, trace_id, dedupe_key)
    OR ts || id || type || schema_version || coalesce(source, '') || coalesce(trace_id, '')
      || coalesce(dedupe_key, '') ~ '[|\\u0001-\\u001f\\u007f]'
    OR hash <> sha256(convert_to(encode(prev_hash, 'hex') || '|' || ts || '|' || id || '|' || type || '|'
      || schema_version || '|' || coalesce(source, '') || '|' || coalesce(trace_id, '') || '|'
      || coalesce(dedupe_key, '') || '|' || payload, 'UTF8'))
  ORDER BY seq LIMIT 1
)`

/** What is wrong at a seq that the server found, said the same way for every adapter. */
const faultAt = async (ask: Ask, seq: number): Promise<Fault> => {
  const rows = await readPage(ask, { after: seq - 2, before: seq + 1, order: 'asc', limit: 2 })
  const record = rows.find((row) => row.seq === seq)
  if (record === undefined) return { seq, id: null, kind: 'sequence', detail: `seq ${seq} is missing` }
  const hashBefore = rows.find((row) => row.seq === seq - 1)?.hash ?? ''
  return { seq, id: record.id, ...kindOf(record, hashBefore) }
}

const kindOf = (record: LogRecord, hashBefore: string): Pick<Fault, 'kind' | 'detail'> => {
  const field = fieldFaultOf(record)
  if (field !== null) return { kind: 'field', detail: field }
  if (record.prevHash !== hashBefore) {
    return { kind: 'link', detail: 'the previous hash is not the hash before it' }
  }
  const hash = hashOf(record.prevHash, record, (text) => digest('sha256', text, 'hex'))
  if (hash !== record.hash) return { kind: 'hash', detail: 'the content does not give the stored hash' }
  throw new Error(`the server rejects seq ${record.seq}, but nothing is wrong with it`)
}
