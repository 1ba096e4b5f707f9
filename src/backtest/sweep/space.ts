import type { Parameters } from '../strategies.ts'

/** A parameter and the values that are tried. */
export interface ParameterValues {
  readonly name: string
  readonly values: readonly (string | number | boolean)[]
}

/** The values cannot be tried; the message says why. */
export class SpaceError extends Error {
  override readonly name = 'SpaceError'
}

const VALUES_MAX = 10_000

/** More would take longer than anybody waits, and after correction nothing of it could be believed. */
const COMBINATIONS_MAX = 100_000

/** `fast=5..50:5`, `fast=5,10,20`, `fast=10`; without a step, a range counts by ones. Null for what is none of these. */
export const parseParameterValues = (text: string): ParameterValues | null => {
  const [, name, listed] = /^([A-Za-z_]\w{0,63})=(.+)$/.exec(text.trim()) ?? []
  if (name === undefined || listed === undefined) return null
  const values: (string | number | boolean)[] = []
  for (const part of listed.split(',')) {
    values.push(...(rangeOf(part.trim()) ?? [valueOf(part.trim())]))
    // At once: each part may have as many as all of them may.
    if (values.length > VALUES_MAX) return null
  }
  if (values.includes('')) return null
  const distinct = [...new Set(values)]
  return distinct.length === values.length ? { name, values } : null
}

const RANGE = /^(-?\d+(?:\.\d+)?)\.\.(-?\d+(?:\.\d+)?)(?::(\d+(?:\.\d+)?))?$/

const rangeOf = (text: string): ParameterValues['values'] | null => {
  const [, fromText, toText, stepText = '1'] = RANGE.exec(text) ?? []
  if (fromText === undefined || toText === undefined) return null
  const [from, to, step] = [Number(fromText), Number(toText), Number(stepText)]
  // One more than allowed is enough to be refused; a range that goes backwards has no values and is refused, too.
  const count = step > 0 ? Math.min(VALUES_MAX, Math.floor((to - from) / step + TOLERANCE)) + 1 : 0
  if (count < 1) return ['']
  const digits = Math.min(DIGITS_MAX, Math.max(decimalsOf(fromText), decimalsOf(stepText)))
  return Array.from({ length: count }, (_, index) => Number((from + index * step).toFixed(digits)))
}

/** A step that does not divide its range in binary may divide it in decimals. */
const TOLERANCE = 1e-9

/** Of `toFixed`. */
const DIGITS_MAX = 100

const decimalsOf = (text: string): number => text.split('.')[1]?.length ?? 0

const valueOf = (text: string): string | number | boolean => {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text
}

/** Every combination; the last parameter changes fastest. */
export const combinationsOf = (space: readonly ParameterValues[]): readonly Parameters[] => {
  const count = countOf(space)
  if (count > COMBINATIONS_MAX) {
    throw new SpaceError(
      `${count} combinations are too many: at most ${COMBINATIONS_MAX}, or some of them by chance (random)`,
    )
  }
  return Array.from({ length: count }, (_, index) => combinationAt(space, index))
}

/** Some of the combinations, each at most once, in the order in which all of them stand; `uniform` draws from 0, below 1. */
export const randomCombinations = (
  space: readonly ParameterValues[],
  wanted: number,
  uniform: () => number,
): readonly Parameters[] => {
  const count = countOf(space)
  if (wanted >= count) return combinationsOf(space)
  if (count > Number.MAX_SAFE_INTEGER) throw new SpaceError('the parameters have too many values')
  const chosen = new Set<number>()
  while (chosen.size < wanted) chosen.add(Math.floor(uniform() * count))
  return [...chosen].sort((one, other) => one - other).map((index) => combinationAt(space, index))
}

export const countOf = (space: readonly ParameterValues[]): number => {
  const names = space.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new SpaceError(`${twice} is set twice`)
  return space.reduce((count, { values }) => count * values.length, 1)
}

const combinationAt = (space: readonly ParameterValues[], index: number): Parameters => {
  const chosen: [string, string | number | boolean][] = []
  let rest = index
  for (const { name, values } of space.toReversed()) {
    const value = values[rest % values.length]
    if (value !== undefined) chosen.unshift([name, value])
    rest = Math.floor(rest / values.length)
  }
  return Object.fromEntries(chosen)
}
