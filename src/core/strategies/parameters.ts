import { z } from 'zod'
import { nearest } from '../shared/nearest.ts'
import type { ParameterValue, ParameterValues } from './strategy.ts'

/** A parameter as it is shown to people. */
export interface ParameterDescription {
  readonly name: string
  readonly type: 'number' | 'integer' | 'boolean' | 'string'
  readonly default: ParameterValue | null
  readonly minimum: number | null
  readonly maximum: number | null
  readonly choices: readonly ParameterValue[]
  readonly description: string
}

/** Read from the JSON Schema of the parameters, which every version of zod and every language can state. */
export const describeParameters = (schema: z.ZodObject): readonly ParameterDescription[] => {
  const known =
    described.get(schema) ?? parametersIn(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }))
  described.set(schema, known)
  return known
}

/**
 * Cached, because a sweep checks thousands of parameter sets by one schema, and building its JSON Schema takes longer
 * than a check.
 */
const described = new WeakMap<z.ZodObject, readonly ParameterDescription[]>()

const parametersIn = (schema: unknown): readonly ParameterDescription[] =>
  Object.entries(recordIn(schema, 'properties')).map(([name, member]) => {
    const {
      type,
      default: fallback,
      minimum,
      exclusiveMinimum,
      maximum,
      exclusiveMaximum,
      ...rest
    } = asRecord(member)
    return {
      name,
      type: type === 'number' || type === 'integer' || type === 'boolean' ? type : 'string',
      default: isValue(fallback) ? fallback : null,
      minimum: bound(minimum ?? exclusiveMinimum),
      maximum: bound(maximum ?? exclusiveMaximum),
      choices: Array.isArray(rest['enum']) ? rest['enum'].filter(isValue) : [],
      description: typeof rest['description'] === 'string' ? rest['description'] : '',
    }
  })

const declared = z.strictObject({
  type: z.enum(['number', 'integer', 'boolean', 'string']),
  default: z.union([z.number(), z.boolean(), z.string()]),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  enum: z.array(z.string()).min(1).optional(),
  description: z.string().optional(),
})

/** Parameters as a strategy in another language than TypeScript declares them. */
export const declaredParameters = z.record(z.string().regex(/^[A-Za-z_]\w{0,63}$/), declared)

export const schemaOf = (parameters: z.infer<typeof declaredParameters>): z.ZodObject =>
  z.object(
    Object.fromEntries(
      Object.entries(parameters).map(([name, { type, minimum, maximum, enum: choices, ...rest }]) => {
        const least = minimum ?? -Number.MAX_SAFE_INTEGER
        const most = maximum ?? Number.MAX_SAFE_INTEGER
        const kinds: Record<ParameterDescription['type'], () => { default(value: never): z.ZodType }> = {
          number: () => z.number().min(least).max(most),
          integer: () => z.int().min(least).max(most),
          boolean: () => z.boolean(),
          string: () => (choices === undefined ? z.string().max(1000) : z.enum(choices)),
        }
        return [
          name,
          kinds[type]()
            .default(rest.default as never)
            .describe(rest.description ?? ''),
        ]
      }),
    ),
  )

export type ParsedParameters =
  | { readonly status: 'valid'; readonly values: ParameterValues }
  | { readonly status: 'invalid'; readonly problems: readonly string[] }

/** The given values, either text from a command line or typed, with defaults for missing ones. */
export const parseParameters = (schema: z.ZodObject, given: ParameterValues): ParsedParameters => {
  const known = describeParameters(schema)
  const problems = unknownNames(known, given)
  if (problems.length > 0) return { status: 'invalid', problems }
  const parsed = schema.safeParse(typedValues(known, given))
  if (parsed.success) return { status: 'valid', values: parsed.data as ParameterValues }
  return {
    status: 'invalid',
    problems: parsed.error.issues.map(({ path, message }) => {
      const parameter = known.find(({ name }) => name === path[0])
      const shown = parameter === undefined ? '' : ` (${parameterText(parameter)})`
      return `${path.join('.') || 'parameters'}: ${message}${shown}`
    }),
  }
}

/** Fault of each parameter set, or null for a valid one. */
export const faultsOfSets = (
  schema: z.ZodObject,
  sets: readonly ParameterValues[],
): readonly (string | null)[] =>
  sets.map((given) => {
    const parsed = parseParameters(schema, given)
    return parsed.status === 'valid' ? null : parsed.problems.join('; ')
  })

/** Fault of the defaults, or null if they are valid. A schema does not check its own defaults. */
export const defaultsFault = (schema: z.ZodObject): string | null => {
  const given = schema.safeParse({})
  const parsed = given.success ? schema.safeParse(given.data) : given
  const [issue] = parsed.error?.issues ?? []
  return issue === undefined
    ? null
    : `every parameter needs a default that is valid: ${issue.path.join('.')}: ${issue.message}`
}

/** For names that the schema does not know. */
const unknownNames = (known: readonly ParameterDescription[], given: ParameterValues): readonly string[] => {
  const names = known.map(({ name }) => name)
  return Object.keys(given)
    .filter((name) => !names.includes(name))
    .map((name) => {
      const meant = nearest(name, names)
      const list = names.length === 0 ? 'there are none' : `there are ${known.map(parameterText).join('; ')}`
      return `no parameter is named ${name}${meant === null ? '' : `, did you mean ${meant}?`} (${list})`
    })
}

/** Converts text for a number or a flag. Text that does not convert stays as it is, and the schema rejects it. */
const typedValues = (known: readonly ParameterDescription[], given: ParameterValues): ParameterValues =>
  Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const type = known.find((parameter) => parameter.name === name)?.type
      return [name, typeof value === 'string' ? typed(value, type) : value]
    }),
  )

const typed = (text: string, type: ParameterDescription['type'] | undefined): ParameterValue => {
  if ((type === 'number' || type === 'integer') && NUMBER.test(text.trim())) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

/** `fast 10, 2 to 200`. */
export const parameterText = ({ name, default: fallback, ...rest }: ParameterDescription): string => {
  const { minimum, maximum, choices } = rest
  const range =
    choices.length > 0
      ? [choices.join(' | ')]
      : minimum === null && maximum === null
        ? []
        : [maximum === null ? `from ${minimum}` : `${minimum ?? 'up'} to ${maximum}`]
  return [fallback === null ? name : `${name} ${fallback}`, ...range].join(', ')
}

const isValue = (value: unknown): value is ParameterValue =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

/** Zod bounds whole numbers by the largest safe integer, which is not a range that an author chose. */
const bound = (value: unknown): number | null =>
  typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : null

const asRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

const recordIn = (value: unknown, member: string): Readonly<Record<string, unknown>> =>
  asRecord(asRecord(value)[member])
