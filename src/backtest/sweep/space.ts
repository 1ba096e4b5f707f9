import type { Parameters } from '../strategies.ts'

/** A parameter and the values that are tried. */
export interface ParameterValues {
  readonly name: string
  readonly values: readonly (string | number | boolean)[]
}

/** The values cannot be tried. The message gives the reason. */
export class SpaceError extends Error {
  override readonly name = 'SpaceError'
}

const VALUES_MAX = 10_000

/** Limit of combinations. More would take too long, and no result would survive the correction. */
const COMBINATIONS_MAX = 100_000

/** Parses `fast=5..50:5`, `fast=5,10,20` or `fast=10`. A range without a step counts by ones. Null for other text. */
export const parseParameterValues = (text: string): ParameterValues | null => {
  const [, name, listed] = /^([A-Za-z_]\w{0,63})=(.+)$/.exec(text.trim()) ?? []
  if (name === undefined || listed === undefined) return null
  const values: (string | number | boolean)[] = []
  for (const part of listed.split(',')) {
    values.push(...(rangeOf(part.trim()) ?? [valueOf(part.trim())]))
    // Checked after each part, because each part may have as many values as all parts together.
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
  // One value above the limit is enough for a refusal. A range that goes backwards has no values and is refused, too.
  const count = step > 0 ? Math.min(VALUES_MAX, Math.floor((to - from) / step + TOLERANCE)) + 1 : 0
  if (count < 1) return ['']
  const digits = Math.min(DIGITS_MAX, Math.max(decimalsOf(fromText), decimalsOf(stepText)))
  return Array.from({ length: count }, (_, index) => Number((from + index * step).toFixed(digits)))
}

/** A step may divide its range in decimals and not in binary. */
const TOLERANCE = 1e-9

/** Limit of `toFixed`. */
const DIGITS_MAX = 100

const decimalsOf = (text: string): number => text.split('.')[1]?.length ?? 0

const valueOf = (text: string): string | number | boolean => {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text
}

/** Every combination. The last parameter changes fastest. */
export const combinationsOf = (space: readonly ParameterValues[]): readonly Parameters[] => {
  const count = countOf(space)
  if (count > COMBINATIONS_MAX) {
    throw new SpaceError(
      `${count} combinations are too many: at most ${COMBINATIONS_MAX}, or some of them by chance (random)`,
    )
  }
  return Array.from({ length: count }, (_, index) => combinationAt(space, index))
}

/** Random combinations, each at most once, in the order of the full list. `uniform` draws from 0, below 1. */
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
