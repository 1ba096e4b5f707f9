/** A course in one line of text: eight heights, lowest to highest of what it shows. */
export const courseLine = (values: readonly number[], widthMax: number): string => {
  const shown = thinned(values, widthMax)
  const lowest = Math.min(...shown)
  const span = Math.max(...shown) - lowest
  return shown
    .map((value) => HEIGHTS[span === 0 ? 0 : Math.round(((value - lowest) / span) * (HEIGHTS.length - 1))])
    .join('')
}

const HEIGHTS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const

/** The last of each part: a long course ends where it ended. */
const thinned = (values: readonly number[], countMax: number): readonly number[] => {
  if (values.length <= countMax) return values
  return Array.from(
    { length: countMax },
    (_, part) => values[Math.ceil(((part + 1) * values.length) / countMax) - 1] ?? Number.NaN,
  )
}
