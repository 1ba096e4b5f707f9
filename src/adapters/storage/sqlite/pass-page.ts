import type { Head } from '../../../core/log/event.ts'
import type { Sha256Hex } from '../../../core/log/hash-chain.ts'
import { textOfMillis, millisOf } from './time-text.ts'

/** A page of events in as few values as possible: what a value costs on its way here is more than its hash. */
export type PageToPass = readonly [
  count: number,
  /** What is hashed behind the previous hash, joined with `SEPARATOR`. */
  tails: string | null,
  hashes: Uint8Array | null,
  prevHashes: Uint8Array | null,
  /** Fields that are empty but not absent; both hash alike. */
  emptyFields: number,
  payloadBytes: number,
  recordedAt: string | null,
]

export const PAGE_TO_PASS = `
SELECT count(*),
  group_concat(concat_ws('|', '', ts, id, type, schema_version,
    ifnull(source, ''), ifnull(trace_id, ''), ifnull(dedupe_key, ''), payload), x'1e'),
  CAST(group_concat(hash, '') AS BLOB),
  CAST(group_concat(prev_hash, '') AS BLOB),
  total(source = '' OR trace_id = '' OR dedupe_key = ''),
  total(octet_length(payload)),
  group_concat(recorded_at)
FROM events WHERE seq > ? AND seq <= ?`

/** The end of the page if everything in it is right. Null says nothing but that somebody has to look closer. */
export const passesAtOnce = (
  [count, joined, hashes, prevHashes, emptyFields, payloadBytes, recordedAt]: PageToPass,
  previous: Head,
  { after, upTo }: { readonly after: number; readonly upTo: number },
  sha256Hex: Sha256Hex,
): Head | null => {
  if (count !== upTo - after || joined === null || hashes === null || prevHashes === null) return null
  const tails = joined.split(SEPARATOR)
  if (tails.length !== count || emptyFields !== 0 || !fieldsArePlain(joined, tails, payloadBytes)) return null
  let hash = previous.hash
  let computed = ''
  for (const tail of tails) {
    hash = sha256Hex(hash + tail)
    computed += hash
  }
  if (!Buffer.from(computed, 'hex').equals(hashes)) return null
  if (!areLinked(Buffer.from(previous.hash, 'hex'), hashes, prevHashes)) return null
  const lastMs = endOfRising(recordedAt ?? '', millisOf(previous.recordedAt) ?? 0)
  return lastMs === null ? null : { seq: upTo, hash, recordedAt: textOfMillis(lastMs) }
}

const HASH_BYTES = 32
const SEPARATOR = '\u001e'

// The first four are never absent. Written out: as groups that repeat, it takes half as long again.
const FIELD = String.raw`\|[^|\u0000-\u001f\u007f]`
const HEAD_FIELDS = new RegExp(String.raw`${`${FIELD}+`.repeat(4)}${`${FIELD}*`.repeat(3)}\|`, 'y')

/**
 * Whether no field holds a bar, so that the text can be cut in one way only. If one did, the eighth bar would stand
 * before the payload, and what comes behind it would be longer than the payloads are together.
 */
const fieldsArePlain = (joined: string, tails: readonly string[], payloadBytes: number): boolean => {
  const isAscii = Buffer.byteLength(joined) === joined.length
  let start = 0
  let behindFields = 0
  for (const tail of tails) {
    HEAD_FIELDS.lastIndex = start
    if (!HEAD_FIELDS.test(joined)) return false
    const end = start + tail.length
    behindFields += isAscii
      ? end - HEAD_FIELDS.lastIndex
      : Buffer.byteLength(tail.slice(HEAD_FIELDS.lastIndex - start))
    start = end + SEPARATOR.length
  }
  return behindFields === payloadBytes
}

/** Whether the previous hashes are the one before the page and then all of the page but the last. */
const areLinked = (before: Uint8Array, hashes: Uint8Array, prevHashes: Uint8Array): boolean =>
  Buffer.compare(prevHashes.subarray(0, before.length), before) === 0 &&
  Buffer.compare(prevHashes.subarray(before.length), hashes.subarray(0, -HASH_BYTES)) === 0

/** The last of these times if none is before the one before it. */
const endOfRising = (times: string, startMs: number): number | null => {
  let lastMs = startMs
  for (const time of times.split(',')) {
    const ms = Number(time)
    if (!(ms >= lastMs)) return null
    lastMs = ms
  }
  return lastMs
}
