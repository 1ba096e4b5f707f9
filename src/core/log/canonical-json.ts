import type { Json } from '../shared/json.ts'

export const CANONICAL_DEPTH_MAX = 64

/** Reason why a value has no canonical text. The codes are those of validation errors on the wire. */
export type CanonicalFault = 'unicode_invalid' | 'number_not_finite' | 'too_deep' | 'not_json'

export class NotCanonicalError extends Error {
  readonly fault: CanonicalFault
  constructor(fault: CanonicalFault, message: string) {
    super(message)
    this.fault = fault
  }
}

/**
 * RFC 8785: members sorted by UTF-16 code units, no blanks, ECMAScript numbers, minimal escapes.
 * Rejects what has no single text (lone surrogates, NaN, functions, dates) instead of repairing it.
 */
export const canonicalJson = (value: Json): string =>
  // JSON.stringify already writes RFC 8785 once members stand in order: the common case costs one walk.
  isSortedAndPlain(value, 0) ? JSON.stringify(value) : write(value, 0)

const isSortedAndPlain = (value: unknown, depth: number): boolean => {
  switch (typeof value) {
    case 'string':
      return checkText(value)
    case 'number':
      return checkNumber(value)
    case 'boolean':
      return true
    case 'object':
      break
    default:
      throw new NotCanonicalError('not_json', `a ${typeof value} is not JSON`)
  }
  if (value === null) return true
  checkDepth(depth)
  if (Array.isArray(value)) {
    for (const item of value) if (!isSortedAndPlain(item, depth + 1)) return false
    return true
  }
  checkPlain(value)
  let previous: string | undefined
  for (const name in value) {
    // Engines list integer-like names first, regardless of their order. `<` compares UTF-16 units.
    if (previous !== undefined && !(previous < name)) return false
    checkText(name)
    if (!isSortedAndPlain((value as Record<string, unknown>)[name], depth + 1)) return false
    previous = name
  }
  return true
}

const write = (value: unknown, depth: number): string => {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') {
    checkText(value)
    return JSON.stringify(value)
  }
  if (typeof value === 'number') {
    checkNumber(value)
    return JSON.stringify(value)
  }
  if (typeof value !== 'object') throw new NotCanonicalError('not_json', `a ${typeof value} is not JSON`)
  checkDepth(depth)
  if (Array.isArray(value)) return `[${value.map((item) => write(item, depth + 1)).join(',')}]`
  checkPlain(value)
  const members = Object.keys(value)
    .sort()
    .map((name) => {
      checkText(name)
      return `${JSON.stringify(name)}:${write((value as Record<string, unknown>)[name], depth + 1)}`
    })
  return `{${members.join(',')}}`
}

const checkText = (text: string): true => {
  if (!text.isWellFormed()) throw new NotCanonicalError('unicode_invalid', 'text holds a lone surrogate')
  return true
}

const checkNumber = (number: number): true => {
  if (!Number.isFinite(number)) throw new NotCanonicalError('number_not_finite', `${number} is not JSON`)
  return true
}

const checkDepth = (depth: number): void => {
  if (depth > CANONICAL_DEPTH_MAX) {
    throw new NotCanonicalError('too_deep', `nested deeper than ${CANONICAL_DEPTH_MAX}`)
  }
}

const checkPlain = (value: object): void => {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    throw new NotCanonicalError('not_json', 'only plain objects are JSON')
  }
  // `for in` would include inherited members, and JSON.stringify would call toJSON. Neither is data.
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') {
    throw new NotCanonicalError('not_json', 'an object with toJSON is not plain JSON')
  }
}
