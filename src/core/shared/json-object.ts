import { z } from 'zod'
import { canonicalJson, NotCanonicalError, type CanonicalFault } from '../log/canonical-json.ts'
import { utf8 } from '../log/bytes.ts'
import { faultOf, type FaultType } from './faults.ts'
import type { Json, JsonObject } from './json.ts'

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Any JSON object, kept exactly as it is. */
export const jsonObject = z
  .custom<JsonObject>(isJsonObject, faultOf('object_type', 'must be an object'))
  .meta({ type: 'object', additionalProperties: true })

export const OBJECT_DEPTH_MAX = 32

export interface ObjectLimits {
  /** UTF-8 bytes of the canonical text. */
  readonly bytesMax: number
  /** Members that are checked. Others are kept, and the value is returned unchanged. */
  readonly members?: z.ZodObject
}

/** An object from outside that is to be stored. */
export const storableObject = ({ bytesMax, members }: ObjectLimits) =>
  jsonObject.superRefine((value, context) => {
    const fault = faultOfStorable(value, bytesMax)
    if (fault !== null) {
      // `continue: false` stops rules of the enclosing objects, which would read every element of an oversized value.
      context.addIssue({ code: 'custom', message: fault.msg, params: { type: fault.type }, continue: false })
      return
    }
    const checked = members?.safeParse(value)
    for (const issue of checked?.error?.issues ?? []) context.addIssue({ ...issue })
  })

interface StorableFault {
  readonly type: FaultType
  readonly msg: string
}

const faultOfStorable = (value: JsonObject, bytesMax: number): StorableFault | null => {
  const tooLarge: StorableFault = { type: 'too_large', msg: `must not be larger than ${bytesMax} bytes` }
  const measured = measure(value, OBJECT_DEPTH_MAX, bytesMax)
  if (measured === 'too_deep') return TOO_DEEP
  if (measured > bytesMax) return tooLarge
  try {
    return utf8(canonicalJson(value)).length > bytesMax ? tooLarge : null
  } catch (error) {
    if (!(error instanceof NotCanonicalError)) throw error
    return NOT_CANONICAL[error.fault]
  }
}

const TOO_DEEP: StorableFault = {
  type: 'too_deep',
  msg: `must not be nested deeper than ${OBJECT_DEPTH_MAX}`,
}

const NOT_CANONICAL: Readonly<Record<CanonicalFault, StorableFault>> = {
  unicode_invalid: { type: 'unicode_invalid', msg: 'must not contain a lone surrogate' },
  number_not_finite: { type: 'number_not_finite', msg: 'must hold finite numbers only' },
  too_deep: TOO_DEEP,
  not_json: { type: 'object_type', msg: 'must be an object' },
}

/**
 * Minimum number of bytes of the canonical text, counted no further than the limit, so that the size is checked before
 * the text is built. Also detects objects and lists that are nested too deep.
 */
const measure = (value: Json, depthLeft: number, bytesMax: number): number | 'too_deep' => {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 1
  if (depthLeft === 0) return 'too_deep'
  let bytes = 2
  // Members are not listed first: the list would also hold every member beyond the limit.
  const names = Array.isArray(value) ? null : Object.keys(value)
  const members = value as JsonObject & ArrayLike<Json>
  const length = names?.length ?? members.length
  for (let index = 0; index < length; index += 1) {
    const name = names?.[index]
    const inner = measure(members[name ?? index] ?? null, depthLeft - 1, bytesMax - bytes)
    if (inner === 'too_deep') return inner
    // Counts the comma, and in an object the name, its quotes and the colon.
    bytes += inner + 1 + (name === undefined ? 0 : name.length + 3)
    // The first member has no comma.
    if (bytes - 1 > bytesMax) return bytes
  }
  return bytes - (bytes > 2 ? 1 : 0)
}

/** Limit of values in one text from outside. Real requests and poll answers have far fewer. */
export const JSON_VALUES_MAX = 100_000

/**
 * Whether a JSON text has too many values. Does not parse it, because small values cost far more memory and time than
 * their text.
 */
export const hasTooManyValues = (text: string): boolean => {
  if (text.length <= JSON_VALUES_MAX) return false
  let values = 1
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit === QUOTE) index = endOfString(text, index) - 1
    else if (unit === COMMA || unit === OPEN_ARRAY || unit === OPEN_OBJECT) values += 1
  }
  return values > JSON_VALUES_MAX
}

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b

/** Index after the closing quote, or after the text if there is none. */
export const endOfString = (text: string, start: number): number => {
  for (let index = start + 1; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit === QUOTE) return index + 1
    if (unit === BACKSLASH) index += 1
  }
  return text.length
}
