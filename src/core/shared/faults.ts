import type { z } from 'zod'
import { echoed } from './echo.ts'

/** One thing wrong with what a client sent, as the wire shows it. */
export interface Fault {
  readonly loc: readonly string[]
  readonly msg: string
  readonly type: FaultType
}

/** More faults than this do not help the client. */
export const FAULTS_MAX = 1000

interface FaultContext {
  /** Input of the schema. It distinguishes a missing member from one of the wrong kind. */
  readonly input?: unknown
  /** The words after "is not a known key", for instance which key was meant. */
  readonly hintFor?: (path: readonly string[]) => string
}

/** Every fault of a zod error, once each, in the words of the wire; `loc` begins with the prefix. */
export const faultsOf = (
  error: z.ZodError,
  prefix: readonly string[],
  context: FaultContext = {},
): readonly Fault[] => {
  const distinct = new Map<string, Fault>()
  for (const issue of error.issues) {
    // A number far outside its range breaks several bounds; the last is the one the schema names.
    for (const fault of faultsOfIssue(issue, prefix, context, [])) {
      distinct.set(JSON.stringify([fault.loc, fault.type]), fault)
    }
    // Checked while collecting: a small request can break a rule a hundred thousand times.
    if (distinct.size >= FAULTS_MAX) break
  }
  return [...distinct.values()].slice(0, FAULTS_MAX)
}

/** For `.refine(check, faultOf('timestamp_invalid', 'must be …'))`: the issue carries the wire's word. */
export const faultOf = (type: FaultType, msg: string): { error: string; params: { type: FaultType } } => ({
  error: msg,
  params: { type },
})

/**
 * One line for people, such as `limit must be at most 500`. The first word of `loc` names the place, so it is left out.
 */
export const sentenceOf = ({ loc, msg }: Fault): string => [loc.slice(1).join('.'), msg].join(' ').trim()

type Issue = z.core.$ZodIssue

const faultsOfIssue = (
  issue: Issue,
  prefix: readonly string[],
  context: FaultContext,
  outerPath: readonly PropertyKey[],
): readonly Fault[] => {
  const path = [...outerPath, ...issue.path]
  const loc = [...prefix, ...path.map(shownName)]
  const one = (type: FaultType, msg: string): readonly Fault[] => [
    { loc, type, msg: ownWords(issue.message) ?? msg },
  ]
  if (issue.code !== 'custom' && isMissing(issue, path, context)) return one('missing', 'is required')
  switch (issue.code) {
    case 'invalid_type':
      return one(...typeFault(issue, valueAt(issue, path, context)))
    case 'invalid_value':
      return one('enum', `must be ${oneOf(issue.values)}`)
    case 'too_small':
      return one(...tooSmall(issue))
    case 'too_big':
      return one(...tooBig(issue))
    case 'invalid_format':
      return one(issue.format === 'url' ? 'url_invalid' : 'string_pattern', formatMessage(issue))
    case 'not_multiple_of':
      return one(issue.divisor === 1 ? 'int_type' : 'conflict', `must be a multiple of ${issue.divisor}`)
    case 'unrecognized_keys':
      return issue.keys
        .slice(0, FAULTS_MAX)
        .map((key) => unknownKey([...path.map(String), key], prefix, context))
    case 'invalid_union':
      return unionFaults(issue, prefix, context, path)
    case 'invalid_key':
    case 'invalid_element':
      return issue.issues.flatMap((inner) => faultsOfIssue(inner, prefix, {}, path))
    case 'custom':
      return one(faultTypeIn(issue.params), issue.message)
  }
}

/** Our schemas' own messages begin with "must"; the library's do not, and are put into our words. */
const ownWords = (message: string): string | null => (message.startsWith('must ') ? message : null)

const faultTypeIn = (params: Readonly<Record<string, unknown>> | undefined): FaultType =>
  FAULT_TYPES.find((type) => type === params?.['type']) ?? 'conflict'

const unknownKey = (
  path: readonly string[],
  prefix: readonly string[],
  { hintFor }: FaultContext,
): Fault => ({
  loc: [...prefix, ...path.map(shownName)],
  type: 'unknown_key',
  msg: `is not a known key${hintFor?.(path) ?? ''}`,
})

/** Names of members are input too. */
const shownName = (name: PropertyKey): string => echoed(String(name))

/** The value at the path, if the caller or zod (`reportInput`) gave it. */
const valueAt = (issue: Issue, path: readonly PropertyKey[], context: FaultContext): unknown => {
  if ('input' in context) return path.reduce(memberOf, context.input)
  return 'input' in issue ? issue.input : UNKNOWN_INPUT
}

const memberOf = (value: unknown, name: PropertyKey): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<PropertyKey, unknown>>)[name]
    : undefined

const isMissing = (issue: Issue, path: readonly PropertyKey[], context: FaultContext): boolean => {
  const value = valueAt(issue, path, context)
  return value === UNKNOWN_INPUT ? issue.message.endsWith('received undefined') : value === undefined
}

/** The faults of the branch that came nearest: the one that got past the kind of value it expects. */
const unionFaults = (
  issue: z.core.$ZodIssueInvalidUnion,
  prefix: readonly string[],
  context: FaultContext,
  path: readonly PropertyKey[],
): readonly Fault[] => {
  const loc = [...prefix, ...path.map(shownName)]
  if (issue.discriminator !== undefined) {
    const known =
      'options' in issue && issue.options !== undefined ? `must be ${oneOf(issue.options)}` : 'is unknown'
    return [{ loc, type: 'enum', msg: known }]
  }
  const nearest = issue.errors.filter((branch) => branch.every((inner) => !isKindFault(inner)))
  const branch = nearest.length === 1 ? nearest[0] : undefined
  if (branch !== undefined) return branch.flatMap((inner) => faultsOfIssue(inner, prefix, context, path))
  const values = issue.errors.flat().flatMap((inner) => (inner.code === 'invalid_value' ? inner.values : []))
  if (values.length > 0) return [{ loc, type: 'enum', msg: `must be ${oneOf(values)}` }]
  return [{ loc, type: 'conflict', msg: ownWords(issue.message) ?? 'must have one of the documented forms' }]
}

const isKindFault = (issue: Issue): boolean =>
  issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value')

/** Every word a client may find as `type` of a validation error. Words are only added. */
export const FAULT_TYPES = [
  'missing',
  'string_type',
  'string_too_short',
  'string_too_long',
  'string_pattern',
  'unicode_invalid',
  'number_type',
  'number_not_finite',
  'int_type',
  'greater_than_equal',
  'less_than_equal',
  'enum',
  'boolean_type',
  'object_type',
  'array_type',
  'too_deep',
  'too_large',
  'timestamp_invalid',
  'timestamp_in_future',
  'url_invalid',
  'cron_invalid',
  'unknown_key',
  'conflict',
] as const

export type FaultType = (typeof FAULT_TYPES)[number]

/** The wire's word and a line for people. */
export type Words = readonly [FaultType, string]

/** The wrong value was not kept. */
const UNKNOWN_INPUT = Symbol('unknown input')

const typeFault = (issue: z.core.$ZodIssueInvalidType, value: unknown): Words => {
  if (isNotFinite(issue, value)) return ['number_not_finite', 'must be a finite number']
  switch (issue.expected) {
    case 'string':
      return ['string_type', 'must be a string']
    case 'number':
      return ['number_type', 'must be a number']
    case 'int':
      return ['int_type', 'must be a whole number']
    case 'boolean':
      return ['boolean_type', 'must be true or false']
    case 'array':
    case 'tuple':
      return ['array_type', 'must be a list']
    case 'object':
    case 'record':
      return ['object_type', 'must be an object']
    default:
      return ['conflict', `must be ${issue.expected}`]
  }
}

const isNotFinite = (issue: z.core.$ZodIssueInvalidType, value: unknown): boolean =>
  value === UNKNOWN_INPUT ? /received (NaN|-?Infinity)$/.test(issue.message) : isInfinite(value)

const isInfinite = (value: unknown): boolean => typeof value === 'number' && !Number.isFinite(value)

const tooSmall = (issue: z.core.$ZodIssueTooSmall): Words => {
  if (issue.origin === 'string')
    return ['string_too_short', `must have ${atLeast(issue)} ${characters(issue.minimum)}`]
  if (issue.origin === 'array') return ['missing', `must have ${atLeast(issue)} ${items(issue.minimum)}`]
  const bound = issue.inclusive === false ? 'greater than' : 'at least'
  return ['greater_than_equal', `must be ${bound} ${issue.minimum}`]
}

const tooBig = (issue: z.core.$ZodIssueTooBig): Words => {
  if (issue.origin === 'string')
    return ['string_too_long', `must have ${atMost(issue)} ${characters(issue.maximum)}`]
  if (issue.origin === 'array') return ['too_large', `must have ${atMost(issue)} ${items(issue.maximum)}`]
  const bound = issue.inclusive === false ? 'less than' : 'at most'
  return ['less_than_equal', `must be ${bound} ${issue.maximum}`]
}

const atLeast = (issue: z.core.$ZodIssueTooSmall): string =>
  `${issue.exact === true ? 'exactly' : 'at least'} ${issue.minimum}`

const atMost = (issue: z.core.$ZodIssueTooBig): string =>
  `${issue.exact === true ? 'exactly' : 'at most'} ${issue.maximum}`

const characters = (count: number | bigint): string => (Number(count) === 1 ? 'character' : 'characters')

const items = (count: number | bigint): string => (Number(count) === 1 ? 'item' : 'items')

const formatMessage = (issue: z.core.$ZodIssueInvalidStringFormat): string => {
  if (issue.format === 'url') return 'must be a URL'
  return issue.pattern === undefined ? `must be a valid ${issue.format}` : `must match ${issue.pattern}`
}

const oneOf = (values: readonly unknown[]): string =>
  values.length === 1 ? String(values[0]) : `one of ${values.map(String).join(', ')}`
