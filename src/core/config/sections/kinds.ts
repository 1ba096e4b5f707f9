import { z } from 'zod'
import { faultOf } from '../../shared/faults.ts'

interface NumberRange {
  readonly min?: number
  /** The bound itself is not allowed. */
  readonly above?: number
  readonly below?: number
  readonly max?: number
}

/** A section or nested group: unknown keys are faults, a missing group is its defaults. */
export const group = <Shape extends z.core.$ZodLooseShape>(description: string, shape: Shape) => {
  const schema = z.strictObject(shape)
  // Every key has a default, so the empty object is always a complete group.
  return schema.prefault({} as z.input<typeof schema>).describe(description)
}

export const number = (fallback: number, range: NumberRange, description: string) =>
  ranged(z.number(), range).default(fallback).describe(description)

export const whole = (fallback: number, min: number, max: number, description: string) =>
  z.int().min(min).max(max).default(fallback).describe(description)

/** 0 to 1. */
export const share = (fallback: number, description: string) =>
  number(fallback, { min: 0, max: 1 }, description)

/** Above 0, up to 1. */
export const positiveShare = (fallback: number, description: string) =>
  number(fallback, { above: 0, max: 1 }, description)

export const flag = (fallback: boolean, description: string) =>
  z.boolean().default(fallback).describe(description)

export const choice = <const Words extends readonly [string, ...string[]]>(
  fallback: Words[number],
  words: Words,
  description: string,
) =>
  z
    .enum(words)
    .default(fallback as never)
    .describe(description)

/** Text that has one canonical form: the configuration is hashed. */
export const plainText = (lengthMin: number, lengthMax: number) =>
  z
    .string()
    .min(lengthMin)
    .max(lengthMax)
    .refine((text) => text.isWellFormed(), faultOf('unicode_invalid', 'must be well-formed Unicode'))

export const text = (fallback: string, lengthMax: number, description: string) =>
  plainText(0, lengthMax).default(fallback).describe(description)

export const symbol = () => plainText(1, 32).regex(/\S/, { error: 'must not be blank' })

const ranged = (schema: z.ZodNumber, { min, above, below, max }: NumberRange): z.ZodNumber => {
  let bounded = schema
  if (min !== undefined) bounded = bounded.min(min)
  if (above !== undefined) bounded = bounded.gt(above)
  if (below !== undefined) bounded = bounded.lt(below)
  if (max !== undefined) bounded = bounded.max(max)
  return bounded
}
