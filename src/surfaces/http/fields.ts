import { z } from 'zod'
import { faultOf } from '../../core/vocabulary/faults.ts'
import type { FaultType } from '../../core/vocabulary/fault-types.ts'

// oxlint-disable-next-line no-control-regex -- control characters are exactly what may not be there
const PLAIN = /^[^|\u0000-\u001f\u007f]*$/

/** Text that may stand in a hashed field of an event: 1..256 characters, no `|`, no control character. */
export const plainText = () =>
  z
    .string()
    .min(1)
    .max(256)
    .regex(PLAIN, { error: 'must not contain | or control characters' })
    .refine((text) => text.isWellFormed(), faultOf('unicode_invalid', 'must be well-formed Unicode'))

/** A filter of a query; empty means no filter. */
export const textFilter = (description: string) =>
  z
    .preprocess((value) => (value === '' ? undefined : value), plainText().optional())
    .optional()
    .meta({ type: 'string', maxLength: 256, description })

interface IntegerRange {
  readonly min: number
  readonly max?: number
}

/** An integer of a query: digits, given once. */
export const integer = (fallback: number, range: IntegerRange, description: string) =>
  z
    .unknown()
    .optional()
    .transform((value, context) => (value === undefined ? fallback : integerOf(value, range, context)))
    .meta({ ...rangeMeta(range), default: fallback, description })

export const optionalInteger = (range: IntegerRange, description: string) =>
  z
    .unknown()
    .optional()
    .transform((value, context) => (value === undefined ? undefined : integerOf(value, range, context)))
    .meta({ ...rangeMeta(range), description })

const rangeMeta = ({ min, max }: IntegerRange) => ({
  type: 'integer' as const,
  minimum: min,
  ...(max === undefined ? {} : { maximum: max }),
})

const integerOf = (value: unknown, { min, max }: IntegerRange, context: z.RefinementCtx): number => {
  if (typeof value !== 'string' || !/^-?[0-9]+$/.test(value)) {
    return fault(context, 'int_type', 'must be one whole number')
  }
  const number = Number(value)
  if (number < min) return fault(context, 'greater_than_equal', `must be at least ${min}`)
  if (max !== undefined && number > max) {
    return fault(context, 'less_than_equal', `must be at most ${max}`)
  }
  // Nothing has a higher number; beyond it doubles cannot count.
  return Math.min(number, Number.MAX_SAFE_INTEGER)
}

const fault = (context: z.RefinementCtx, type: FaultType, message: string): never => {
  context.addIssue({ code: 'custom', message, params: { type } })
  return z.NEVER
}
