import { binsOf, gainsOf, skillPoints, shareCourse } from './claims.ts'
import type { LifeReport } from './life.ts'

/** Four panels, written by hand: no library draws better boxes. */
export const plotOf = (reports: readonly LifeReport[]): string => {
  const panels = [skillPanel(reports), gainPanel(reports), turnPanel(reports), reliabilityPanel(reports)]
  const placed = panels.map(
    (panel, index) =>
      `<g transform="translate(${(index % 2) * WIDTH},${Math.floor(index / 2) * HEIGHT})">${panel}</g>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${2 * WIDTH}" height="${2 * HEIGHT}" font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>${placed.join('')}</svg>\n`
}

const WIDTH = 480
const HEIGHT = 340
const EDGE = { left: 60, right: 20, top: 40, bottom: 50 }
const CALLS = 80
const BLUE = '#1f6feb'
const GREY = '#8c959f'
const RED = '#cf222e'

const skillPanel = (reports: readonly LifeReport[]): string => {
  const axes = panelOf(
    'Karma after 200 calls, by true skill',
    ['true hit rate', 'karma'],
    [0.44, 0.61],
    [20, 80],
  )
  const dots = skillPoints(reports).flatMap(({ skill, karmas }) =>
    karmas.map((karma) => axes.dot(skill, karma, BLUE)),
  )
  return (
    axes.frame +
    axes.line(
      [
        [0.44, 50],
        [0.61, 50],
      ],
      GREY,
    ) +
    dots.join('')
  )
}

const gainPanel = (reports: readonly LifeReport[]): string => {
  const series = [
    { gains: sorted(gainsOf(reports, 'default')), color: BLUE },
    { gains: sorted(gainsOf(reports, 'walk')), color: GREY },
  ]
  const all = series.flatMap(({ gains }) => gains).map((gain) => gain * 100)
  const reach = Math.max(0.1, ...all.map(Math.abs))
  const axes = panelOf(
    'Return gained by learning: skilled authors (blue), nothing to learn (grey)',
    ['seeds, sorted', '% of the account'],
    [0, 1],
    [-reach, reach],
  )
  const dots = series.flatMap(({ gains, color }) =>
    gains.map((gain, index) => axes.dot((index + 0.5) / gains.length, gain * 100, color)),
  )
  return (
    axes.frame +
    axes.line(
      [
        [0, 0],
        [1, 0],
      ],
      GREY,
    ) +
    dots.join('')
  )
}

const turnPanel = (reports: readonly LifeReport[]): string => {
  const courseOf = (whose: 'turned' | 'steady') =>
    shareCourse(reports, whose, CALLS).flatMap((share, index): readonly (readonly [number, number])[] =>
      Number.isFinite(share) ? [[index + 1, Math.min(1.5, share)]] : [],
    )
  const axes = panelOf(
    'Influence of an author that turned bad (grey: that stays good)',
    ['calls resolved since', 'share, relative to before'],
    [0, CALLS],
    [0, 1.5],
  )
  return (
    axes.frame +
    axes.line(
      [
        [0, 0.5],
        [CALLS, 0.5],
      ],
      GREY,
    ) +
    axes.line(
      [
        [40, 0],
        [40, 1.5],
      ],
      RED,
    ) +
    axes.line(courseOf('steady'), GREY) +
    axes.line(courseOf('turned'), BLUE)
  )
}

const reliabilityPanel = (reports: readonly LifeReport[]): string => {
  const axes = panelOf('Reliability of convictions', ['said', 'came true'], [0.5, 1], [0, 1])
  const points = binsOf(reports, 'engineBins')
    .filter(({ count }) => count > 0)
    .map(({ count, probabilities, hits }) => [probabilities / count, hits / count] as const)
  const dots = points.map(([said, came]) => axes.dot(said, came, BLUE))
  return (
    axes.frame +
    axes.line(
      [
        [0.5, 0.5],
        [1, 1],
      ],
      GREY,
    ) +
    axes.line(points, BLUE) +
    dots.join('')
  )
}

type Range = readonly [number, number]

const panelOf = (title: string, [below, beside]: readonly [string, string], across: Range, up: Range) => {
  const x = (value: number): number => EDGE.left + part(value, across) * (WIDTH - EDGE.left - EDGE.right)
  const y = (value: number): number =>
    HEIGHT - EDGE.bottom - part(value, up) * (HEIGHT - EDGE.top - EDGE.bottom)
  const [left, right, bottom, top] = [x(across[0]), x(across[1]), y(up[0]), y(up[1])]
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((place) => {
    const [atX, atY] = [valueAt(place, across), valueAt(place, up)]
    return `<text x="${x(atX)}" y="${bottom + 16}" text-anchor="middle">${short(atX)}</text><text x="${left - 6}" y="${y(atY) + 4}" text-anchor="end">${short(atY)}</text>`
  })
  const frame = [
    `<text x="${WIDTH / 2}" y="22" text-anchor="middle" font-size="13" font-weight="bold">${title}</text>`,
    `<rect x="${left}" y="${top}" width="${right - left}" height="${bottom - top}" fill="none" stroke="${GREY}"/>`,
    `<text x="${(left + right) / 2}" y="${HEIGHT - 12}" text-anchor="middle">${below}</text>`,
    `<text transform="translate(16,${(top + bottom) / 2}) rotate(-90)" text-anchor="middle">${beside}</text>`,
    ...ticks,
  ].join('')
  return {
    frame,
    dot: (atX: number, atY: number, color: string): string =>
      `<circle cx="${x(atX).toFixed(1)}" cy="${y(atY).toFixed(1)}" r="2.5" fill="${color}" fill-opacity="0.6"/>`,
    line: (points: readonly (readonly [number, number])[], color: string): string =>
      `<polyline fill="none" stroke="${color}" points="${points.map(([atX, atY]) => `${x(atX).toFixed(1)},${y(atY).toFixed(1)}`).join(' ')}"/>`,
  }
}

const part = (value: number, [from, to]: Range): number => (value - from) / (to - from)

const valueAt = (place: number, [from, to]: Range): number => from + place * (to - from)

const short = (value: number): string => String(Number(value.toPrecision(3)))

const sorted = (values: readonly number[]): readonly number[] => values.toSorted((one, other) => one - other)
