import type { z } from 'zod'
import { FAULT_TYPES, type FaultType } from './fault-types.ts'
import { formatMessage, oneOf, tooBig, tooSmall, typeFault, UNTOLD } from './issue-words.ts'

/** One thing wrong with what a stranger sent, as the wire shows it. */
export interface Fault {
  readonly loc: readonly string[]
  readonly msg: string
  readonly type: FaultType
}

/** More than this many faults help nobody and would only make a long answer longer. */
export const FAULTS_MAX = 1000

export interface FaultContext {
  /** What the schema was given. With it a missing member is told from one of the wrong kind. */
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
  const faults = error.issues.flatMap((issue) => faultsOfIssue(issue, prefix, context, []))
  // A number far outside its range breaks several bounds; the last is the one the schema names.
  const distinct = new Map(faults.map((fault) => [JSON.stringify([fault.loc, fault.type]), fault]))
  return [...distinct.values()].slice(0, FAULTS_MAX)
}

/** For `.refine(check, faultOf('timestamp_invalid', 'must be …'))`: the issue carries the wire's word. */
export const faultOf = (type: FaultType, msg: string): { error: string; params: { type: FaultType } } => ({
  error: msg,
  params: { type },
})

/** `limit must be at most 500`: one line for people. The first word of `loc` says where, not what. */
export const sentenceOf = ({ loc, msg }: Fault): string => [loc.slice(1).join('.'), msg].join(' ').trim()

type Issue = z.core.$ZodIssue

const faultsOfIssue = (
  issue: Issue,
  prefix: readonly string[],
  context: FaultContext,
  outerPath: readonly PropertyKey[],
): readonly Fault[] => {
  const path = [...outerPath, ...issue.path]
  const loc = [...prefix, ...path.map(String)]
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
  loc: [...prefix, ...path],
  type: 'unknown_key',
  msg: `is not a known key${hintFor?.(path) ?? ''}`,
})

/** What stood at the path, if anybody told: the caller, or zod with `reportInput`. */
const valueAt = (issue: Issue, path: readonly PropertyKey[], context: FaultContext): unknown => {
  if ('input' in context) return path.reduce(memberOf, context.input)
  return 'input' in issue ? issue.input : UNTOLD
}

const memberOf = (value: unknown, name: PropertyKey): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<PropertyKey, unknown>>)[name]
    : undefined

const isMissing = (issue: Issue, path: readonly PropertyKey[], context: FaultContext): boolean => {
  const value = valueAt(issue, path, context)
  return value === UNTOLD ? issue.message.endsWith('received undefined') : value === undefined
}

/** The faults of the branch that came nearest: the one that got past the kind of value it expects. */
const unionFaults = (
  issue: z.core.$ZodIssueInvalidUnion,
  prefix: readonly string[],
  context: FaultContext,
  path: readonly PropertyKey[],
): readonly Fault[] => {
  const loc = [...prefix, ...path.map(String)]
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
