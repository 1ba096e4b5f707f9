import type { z } from 'zod'
import type { FaultType } from './fault-types.ts'

/** The wire's word and a line for people. */
export type Words = readonly [FaultType, string]

/** Nobody kept the value that was wrong. */
export const UNTOLD = Symbol('untold')

export const typeFault = (issue: z.core.$ZodIssueInvalidType, value: unknown): Words => {
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
  value === UNTOLD ? /received (NaN|-?Infinity)$/.test(issue.message) : isInfinite(value)

const isInfinite = (value: unknown): boolean => typeof value === 'number' && !Number.isFinite(value)

export const tooSmall = (issue: z.core.$ZodIssueTooSmall): Words => {
  if (issue.origin === 'string')
    return ['string_too_short', `must have ${atLeast(issue)} ${characters(issue.minimum)}`]
  if (issue.origin === 'array') return ['missing', `must have ${atLeast(issue)} ${items(issue.minimum)}`]
  const bound = issue.inclusive === false ? 'greater than' : 'at least'
  return ['greater_than_equal', `must be ${bound} ${issue.minimum}`]
}

export const tooBig = (issue: z.core.$ZodIssueTooBig): Words => {
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

export const formatMessage = (issue: z.core.$ZodIssueInvalidStringFormat): string => {
  if (issue.format === 'url') return 'must be a URL'
  return issue.pattern === undefined ? `must be a valid ${issue.format}` : `must match ${issue.pattern}`
}

export const oneOf = (values: readonly unknown[]): string =>
  values.length === 1 ? String(values[0]) : `one of ${values.map(String).join(', ')}`
