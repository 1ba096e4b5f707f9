import type { Timestamp } from '../../../core/shared/brand.ts'
import { z } from 'zod'
import { CURATOR_TYPE } from '../../../core/signal-types/curator.ts'
import { SIGNAL_TYPE_PATTERN, signalTypeOf } from '../../../core/signal-types/all.ts'
import { faultOf, faultsOf, sentenceOf } from '../../../core/shared/faults.ts'
import type { JsonObject } from '../../../core/shared/json.ts'
import {
  hasTooManyValues,
  isJsonObject,
  JSON_VALUES_MAX,
  storableObject,
} from '../../../core/shared/json-object.ts'
import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import { mayEmit } from '../../../core/signals/signals.ts'
import { plainText } from '../../../core/shared/text.ts'
import { isTooFarAhead, timestamp } from '../../../core/shared/time.ts'

export interface PolledRow {
  readonly type: string
  readonly payload: JsonObject
  /** Time of observation, as the producer reports it. */
  readonly ts: Timestamp | null
  readonly dedupeKey: string | null
}

export interface RejectedRow {
  /** Position in the response, from 0. */
  readonly index: number
  readonly reason: string
}

export type Reading =
  | {
      readonly status: 'read'
      readonly rows: readonly PolledRow[]
      /** The first rejected rows. */
      readonly rejected: readonly RejectedRow[]
      /** Number of skipped items and the reason of the first; null if none was skipped. */
      readonly summary: string | null
    }
  /** The response is JSON, but not in the required form. */
  | { readonly status: 'unusable'; readonly reason: string }
  | { readonly status: 'malformed'; readonly reason: string }

export interface ReadingRules {
  readonly now: Timestamp
  /** Domain of the producer. Rows of other domains are rejected. */
  readonly domain: string
  readonly futureSkewSecondsMax: number
}

/** Reads the response of an endpoint. Items that may not be stored are skipped; the others are kept unchanged. */
export const readResponse = (body: Uint8Array, rules: ReadingRules): Reading => {
  if (body.length === 0) return { status: 'unusable', reason: 'the response is empty' }
  const parsed = parse(body)
  if (parsed.status !== 'parsed') return parsed
  const items = itemsOf(parsed.value)
  if (items === null)
    return { status: 'unusable', reason: 'the response is neither a list nor {"items": […]}' }
  const rows: PolledRow[] = []
  const rejected: RejectedRow[] = []
  for (const [index, item] of items.slice(0, ITEMS_MAX).entries()) {
    const row = rowOf(item, rules)
    if (typeof row !== 'string') rows.push(row)
    else if (rejected.length < REJECTED_MAX) rejected.push({ index, reason: row })
  }
  if (items.length > ITEMS_MAX && rejected.length < REJECTED_MAX) {
    rejected.push({ index: ITEMS_MAX, reason: `only ${ITEMS_MAX} items are read` })
  }
  return {
    status: 'read',
    rows,
    rejected,
    summary: summaryOf(items.length - rows.length, items, rejected),
  }
}

const ITEMS_MAX = 500
const REJECTED_MAX = 20
const PAYLOAD_BYTES_MAX = 64 * 1024
const DEDUPE_KEY_LENGTH_MAX = 200

const UTF8 = new TextDecoder('utf-8', { fatal: true })

type Parsed =
  | { readonly status: 'parsed'; readonly value: unknown }
  | Extract<Reading, { status: 'malformed' | 'unusable' }>

const OVERSIZED: Parsed = {
  status: 'unusable',
  reason: `the response has more than ${JSON_VALUES_MAX} values`,
}

const parse = (body: Uint8Array): Parsed => {
  try {
    const text = UTF8.decode(body)
    if (hasTooManyValues(text)) return OVERSIZED
    return { status: 'parsed', value: JSON.parse(text) as unknown }
  } catch (error) {
    // The error comes from the decoder or the parser. Its message may quote the response, whose content is untrusted.
    if (error instanceof TypeError) return { status: 'malformed', reason: 'the response is not UTF-8' }
    if (error instanceof SyntaxError) return { status: 'malformed', reason: 'the response is not JSON' }
    throw error
  }
}

const itemsOf = (value: unknown): readonly unknown[] | null => {
  if (Array.isArray(value)) return value as readonly unknown[]
  if (!isJsonObject(value) || !Object.hasOwn(value, 'items')) return null
  const { items } = value
  return Array.isArray(items) ? items : null
}

const ITEM = z
  .object({
    type: z
      .string()
      .max(128)
      .regex(SIGNAL_TYPE_PATTERN, { error: 'must be a signal type such as signal.ta.v1' })
      .refine(
        (type) => type !== CURATOR_TYPE,
        faultOf('enum', `must not be ${CURATOR_TYPE}, which is for people`),
      ),
    payload: storableObject({ bytesMax: PAYLOAD_BYTES_MAX }),
    ts: timestamp().nullish(),
    dedupe_key: plainText(DEDUPE_KEY_LENGTH_MAX).nullish(),
  })
  .superRefine(({ type, payload }, context) => {
    const known = signalTypeOf(type)
    if (known === undefined) return
    for (const issue of known.payload.safeParse(payload).error?.issues ?? []) {
      context.addIssue({ ...issue, path: ['payload', ...issue.path] })
    }
    const { symbol } = payload
    if (typeof symbol === 'string' && canonicalSymbol(symbol) === '') {
      context.addIssue({ code: 'custom', path: ['payload', 'symbol'], message: 'must name something' })
    }
  })

/** The row, or the error in the item. */
const rowOf = (item: unknown, { now, domain, futureSkewSecondsMax }: ReadingRules): PolledRow | string => {
  const checked = ITEM.safeParse(item)
  if (!checked.success) {
    const [first] = faultsOf(checked.error, ['item'], { input: item })
    return first === undefined ? 'is not a signal' : sentenceOf(first)
  }
  const { type, payload, ts = null, dedupe_key: dedupeKey = null } = checked.data
  if (!mayEmit(domain, type)) return `type is not one of the domain ${domain}`
  if (ts !== null && isTooFarAhead(ts, now, futureSkewSecondsMax)) {
    return `ts must not be more than ${futureSkewSecondsMax} s ahead`
  }
  return { type, payload, ts, dedupeKey }
}

const summaryOf = (
  skipped: number,
  items: readonly unknown[],
  [first]: readonly RejectedRow[],
): string | null =>
  first === undefined
    ? null
    : `${skipped} of ${items.length} items skipped; item ${first.index}: ${first.reason}`
