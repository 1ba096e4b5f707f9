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
  /** Known members are checked, others kept. What comes out is what came in, not a copy that was cleaned. */
  readonly members?: z.ZodObject
}

/** An object from outside that is to be stored. */
export const storableObject = ({ bytesMax, members }: ObjectLimits) =>
  jsonObject.superRefine((value, context) => {
    const fault = faultOfStorable(value, bytesMax)
    if (fault !== null) {
      context.addIssue({ code: 'custom', message: fault.msg, params: { type: fault.type } })
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
  if (depthOf(value, OBJECT_DEPTH_MAX + 1) > OBJECT_DEPTH_MAX) return TOO_DEEP
  try {
    const bytes = utf8(canonicalJson(value)).length
    return bytes > bytesMax ? { type: 'too_large', msg: `must not be larger than ${bytesMax} bytes` } : null
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

/** Objects and lists inside one another, as far as anybody wants to know. */
const depthOf = (value: Json, depthMax: number): number => {
  if (typeof value !== 'object' || value === null) return 0
  if (depthMax === 1) return 1
  let deepest = 0
  for (const member of Object.values(value as JsonObject)) {
    deepest = Math.max(deepest, depthOf(member, depthMax - 1))
  }
  return 1 + deepest
}
