import { z } from 'zod'
import { faultOf } from '../../shared/faults.ts'

interface NumberRange {
  readonly min?: number
  /** Lower bound that is itself not allowed; `below` likewise. */
  readonly above?: number
  readonly below?: number
  readonly max?: number
}

/**
 * Like `describe`, but does not copy the schema. Every command builds several hundred schemas at its start. For the
 * same reason all checks of a key are added at once.
 */
const described = <Schema extends z.ZodType>(schema: Schema, description: string): Schema => {
  z.globalRegistry.add(schema, { description })
  return schema
}

/**
 * Hidden part of a secret setting: its whole `value`, the `password` in an address, or the `path` of an address, which
 * authorizes the sender.
 */
export type SecretForm = 'value' | 'password' | 'path'

const secretForms = new WeakMap<z.core.$ZodType, SecretForm>()

/**
 * Declares a secret setting. Wrap the finished schema: every method of a schema returns another schema, which loses the
 * mark.
 */
export const secret = <Schema extends z.ZodType>(form: SecretForm, schema: Schema): Schema => {
  secretForms.set(schema, form)
  return schema
}

export const secretFormOf = (schema: z.core.$ZodType): SecretForm | null => secretForms.get(schema) ?? null

/** A section or nested group. Unknown keys are faults, and a missing group has its defaults. */
export const group = <Shape extends z.core.$ZodLooseShape>(description: string, shape: Shape) => {
  const schema = z.strictObject(shape)
  // Every key has a default, so the empty object is always a complete group.
  return described(schema.prefault({} as z.input<typeof schema>), description)
}

export const number = (fallback: number, range: NumberRange, description: string) =>
  described(
    z
      .number()
      .check(...boundsOf(range))
      .default(fallback),
    description,
  )

export const whole = (fallback: number, min: number, max: number, description: string) =>
  described(z.int().check(z.gte(min), z.lte(max)).default(fallback), description)

/** 0 to 1. */
export const share = (fallback: number, description: string) =>
  number(fallback, { min: 0, max: 1 }, description)

/** Above 0, up to 1. */
export const positiveShare = (fallback: number, description: string) =>
  number(fallback, { above: 0, max: 1 }, description)

export const flag = (fallback: boolean, description: string) =>
  described(z.boolean().default(fallback), description)

export const choice = <const Words extends readonly [string, ...string[]]>(
  fallback: Words[number],
  words: Words,
  description: string,
) => described(z.enum(words).default(fallback as never), description)

/** Text that has one canonical form: the configuration is hashed. */
export const plainText = (lengthMin: number, lengthMax: number) =>
  z.string().check(
    z.minLength(lengthMin),
    z.maxLength(lengthMax),
    z.refine((text) => text.isWellFormed(), faultOf('unicode_invalid', 'must be well-formed Unicode')),
  )

export const text = (fallback: string, lengthMax: number, description: string) =>
  described(plainText(0, lengthMax).default(fallback), description)

export const symbol = () => plainText(1, 32).regex(/\S/, { error: 'must not be blank' })

const boundsOf = ({ min, above, below, max }: NumberRange) => [
  ...(min === undefined ? [] : [z.gte(min)]),
  ...(above === undefined ? [] : [z.gt(above)]),
  ...(below === undefined ? [] : [z.lt(below)]),
  ...(max === undefined ? [] : [z.lte(max)]),
]
