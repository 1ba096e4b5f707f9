import { isUtf8 } from 'node:buffer'
import type { Head } from '../../../core/log/event.ts'
import { textOfMillis, millisOf } from './time-text.ts'

/** A page of events in as few values as possible: what a value costs on its way here is more than its hash. */
export type PageToPass = readonly [
  /** How many of them have a hash and a previous hash of the right length. */
  count: number,
  /** When each was recorded and what of it is hashed behind the previous hash, joined with `SEPARATOR`. */
  events: Uint8Array | null,
  /** The previous hash and the hash of each, as they are stored. */
  hashes: Uint8Array | null,
  /** How many of the fields that may be absent are not. If one of them is empty, it hashes as if it were absent. */
  presentFields: number,
  payloadBytes: number,
]

const HASH_BYTES = 32
const HEX_BYTES = 2 * HASH_BYTES

export const PAGE_TO_PASS = `
SELECT total(octet_length(hash) = ${HASH_BYTES} AND octet_length(prev_hash) = iif(seq = 1, 0, ${HASH_BYTES})),
  CAST(group_concat(concat_ws('|', recorded_at, ts, id, type, schema_version, ifnull(source, ''),
    ifnull(trace_id, ''), ifnull(dedupe_key, ''), payload), x'1e') AS BLOB),
  CAST(group_concat(prev_hash || hash, '') AS BLOB),
  count(source) + count(trace_id) + count(dedupe_key),
  total(octet_length(payload))
FROM events WHERE seq > ? AND seq <= ?`

/** SHA-256 in hex. */
export type HashBytes = (bytes: Uint8Array) => string

/** The end of the page if everything in it is right. Null says nothing but that somebody has to look closer. */
export const passesAtOnce = (
  [count, events, hashes, presentFields, payloadBytes]: PageToPass,
  previous: Head,
  { after, upTo }: { readonly after: number; readonly upTo: number },
  hashBytes: HashBytes,
): Head | null => {
  if (count !== upTo - after || events === null || hashes === null) return null
  if (!isUtf8(events)) return null
  const walk = new Walk(events, previous)
  let computed = ''
  for (let number = 0; number < count; number += 1) {
    computed += walk.hash
    if (!walk.step(hashBytes)) return null
    computed += walk.hash
  }
  // Otherwise a payload holds the separator, a bar stands where none may be, or a field is empty.
  if (!walk.isAtEnd || walk.payloadBytes !== payloadBytes || walk.presentFields !== presentFields) return null
  if (!Buffer.from(computed, 'hex').equals(hashes)) return null
  return { seq: upTo, hash: walk.hash, recordedAt: textOfMillis(walk.recordedMs) }
}

const SEPARATOR = 0x1e
const BAR = 0x7c
const ZERO = 0x30
const NINE = 0x39
const DELETE = 0x7f
const SPACE = 0x20

const FIELDS = 7
/** The first four are never absent. */
const FIELDS_ALWAYS = 4

/** Goes from event to event over the bytes of a page, which it writes the hashes into. */
class Walk {
  hash: string
  recordedMs: number
  presentFields = 0
  payloadBytes = 0
  readonly #bytes: Uint8Array
  readonly #buffer: Buffer
  readonly #words: DataView
  #at = 0

  constructor(bytes: Uint8Array, previous: Head) {
    this.#bytes = bytes
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.hash = previous.hash
    this.recordedMs = millisOf(previous.recordedAt) ?? 0
  }

  /** False if it is not sure that the event is right. Whether its hash is will be seen for all together. */
  step(hashBytes: HashBytes): boolean {
    const fieldsAt = this.#passTime()
    if (fieldsAt === null) return false
    const separatorAt = this.#buffer.indexOf(SEPARATOR, fieldsAt)
    const end = separatorAt === -1 ? this.#bytes.length : separatorAt
    if (!this.#passFields(fieldsAt, end)) return false
    this.hash = hashBytes(this.#behindHash(fieldsAt, end))
    this.#at = end + 1
    return true
  }

  /** What is hashed: the previous hash is written over the event before, which is done with. */
  #behindHash(fieldsAt: number, end: number): Uint8Array {
    const start = fieldsAt - this.hash.length
    if (start < 0) return Buffer.concat([Buffer.from(this.hash), this.#bytes.subarray(fieldsAt, end)])
    this.#buffer.write(this.hash, start, HEX_BYTES, 'latin1')
    return this.#bytes.subarray(start, end)
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length + 1
  }

  /** The bar behind the time, if it is not before the one before it. */
  #passTime(): number | null {
    const bytes = this.#bytes
    let ms = 0
    for (let index = this.#at; index < bytes.length; index += 1) {
      const byte = bytes[index] as number
      if (byte >= ZERO && byte <= NINE) {
        ms = ms * 10 + byte - ZERO
        continue
      }
      if (byte !== BAR || ms < this.recordedMs) return null
      this.recordedMs = ms
      return index
    }
    return null
  }

  /**
   * Whether no field holds a bar, so that the text can be cut in one way only. If one did, the eighth bar would stand
   * before the payload, and what comes behind it would be longer than the payloads are together.
   */
  #passFields(at: number, end: number): boolean {
    const bytes = this.#bytes
    const words = this.#words
    let field = 0
    let bar = at
    let index = at + 1
    const wordsEnd = end - WORD_BYTES + 1
    for (;;) {
      let special = 0
      while (index < wordsEnd && (special = specialBytes(words.getInt32(index, true))) === 0)
        index += WORD_BYTES
      if (special !== 0) index += (31 - Math.clz32(special & -special)) >> 3
      if (index >= end) return false
      const byte = bytes[index] as number
      index += 1
      if (byte >= SPACE && byte < BAR) continue
      if (byte < SPACE || byte === DELETE) return false
      if (byte !== BAR) continue
      const isEmpty = index === bar + 2
      if (field < FIELDS_ALWAYS) {
        if (isEmpty) return false
      } else if (!isEmpty) this.presentFields += 1
      field += 1
      bar = index - 1
      if (field < FIELDS) continue
      this.payloadBytes += end - index
      return true
    }
  }
}

/**
 * The highest bit of each of four bytes that is a control character, a bar or beyond it: most are none of these.
 * Adding lifts what is from the bar on over 0x7f, subtracting sends what is below the space there.
 */
const specialBytes = (word: number): number =>
  ((word + UP_FROM_BAR) | word | ((word - DOWN_FROM_SPACE) & ~word)) & HIGHEST_BITS

const WORD_BYTES = 4
const HIGHEST_BITS = 0x80808080
const UP_FROM_BAR = 0x04040404
const DOWN_FROM_SPACE = 0x20202020
