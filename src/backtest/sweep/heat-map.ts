import type { CorrectedResult, Metric } from './sweep.ts'
import type { ParameterValues } from './space.ts'

/** The best result for each pair of values of two parameters, over all values of the others. */
export interface HeatMap {
  readonly x: string
  readonly y: string
  readonly metric: Metric
  readonly xs: ParameterValues['values']
  readonly ys: ParameterValues['values']
  /** One row for each y; null where no set was tried. */
  readonly cells: readonly (readonly (number | null)[])[]
}

/** Heat map of these two parameters, or of the first two with several values. Null if there are no two. */
export const heatMapOf = (
  space: readonly ParameterValues[],
  results: readonly CorrectedResult[],
  metric: Metric,
  chosen: readonly [string, string] | null,
): HeatMap | null => {
  const varied = space.filter(({ values }) => values.length > 1)
  const named = (name: string): ParameterValues | undefined => space.find((values) => values.name === name)
  const [x, y] = chosen === null ? varied : [named(chosen[0]), named(chosen[1])]
  if (x === undefined || y === undefined || x === y) return null
  const best = new Map<string, number>()
  for (const result of results) {
    const cell = JSON.stringify([result.parameters[x.name], result.parameters[y.name]])
    best.set(cell, Math.max(best.get(cell) ?? Number.NEGATIVE_INFINITY, result[metric]))
  }
  return {
    x: x.name,
    y: y.name,
    metric,
    xs: x.values,
    ys: y.values,
    cells: y.values.map((yValue) =>
      x.values.map((xValue) => best.get(JSON.stringify([xValue, yValue])) ?? null),
    ),
  }
}

const SHADES = [' ', '░', '▒', '▓', '█'] as const

/** Shades from the smallest to the largest value. All cells have one shade if the values are equal. */
export const shadeOf = ({ cells }: HeatMap): ((value: number | null) => string) => {
  const values = cells.flat().filter((value): value is number => value !== null)
  const lowest = values.reduce((least, value) => Math.min(least, value), Infinity)
  const span = values.reduce((most, value) => Math.max(most, value), -Infinity) - lowest
  return (value) => {
    if (value === null) return ' '
    const level = span === 0 ? 0 : Math.round(((value - lowest) / span) * (SHADES.length - 1))
    return SHADES[level] ?? ' '
  }
}
