import { isUtf8 } from 'node:buffer'
import { z } from 'zod'
import type { FaultType } from '../../core/shared/faults.ts'
import { plainText } from '../../core/shared/text.ts'
import { timestamp } from '../../core/shared/time.ts'

/** A name in a path. Any text is allowed: an impossible one is not found. */
export const pathText = (description: string, example: string) =>
  z.string().meta({ description, examples: [example] })

/** A filter of a query; empty means no filter. */
export const textFilter = (description: string) =>
  z
    .preprocess((value) => (value === '' ? undefined : value), plainText().optional())
    .optional()
    .meta({ type: 'string', minLength: 0, maxLength: 256, description })

/** A moment in a query; empty means no bound. */
export const timeFilter = (description: string) =>
  z
    .preprocess((value) => (value === '' ? undefined : value), timestamp().optional())
    .optional()
    .meta({ type: 'string', format: 'date-time', description, examples: ['2026-02-20T00:29:58.000Z'] })

/** Text in a header; empty counts as absent. Node reads its bytes as Latin-1, while clients send UTF-8. */
export const headerText = (text: z.ZodType<string>, description: string) =>
  z
    .preprocess((value) => (typeof value === 'string' ? utf8Text(value) : value), text.optional())
    .optional()
    .meta({ type: 'string', description })

export const utf8Text = (header: string): string | undefined => {
  if (header === '') return undefined
  const bytes = Buffer.from(header, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : header
}

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
  // No seq or offset is larger; beyond it doubles cannot count.
  return Math.min(number, Number.MAX_SAFE_INTEGER)
}

const fault = (context: z.RefinementCtx, type: FaultType, message: string): never => {
  context.addIssue({ code: 'custom', message, params: { type } })
  return z.NEVER
}
