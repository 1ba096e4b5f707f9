import { group, number, whole } from './kinds.ts'

const percentPerYear = (fallback: number, description: string) =>
  number(fallback, { min: -1000, max: 1000 }, description)

const index = (fallback: number, description: string) => number(fallback, { min: 0, max: 100 }, description)

const votes = (fallback: number, description: string) => whole(fallback, 1, 4, description)

export const regime = group('Votes that decide the regime; crisis is asked first, then bull, then bear', {
  bull: group('Votes for BULL', {
    funding_above: percentPerYear(5, 'funding in % per year above this'),
    funding_below: percentPerYear(30, 'and below this'),
    basis_above: percentPerYear(3, 'basis in % per year above this'),
    basis_below: percentPerYear(8, 'and below this'),
    rsi_above: index(50, 'RSI above this'),
    fear_greed_above: index(40, 'fear and greed index above this'),
    votes: votes(3, 'votes needed'),
  }),
  bear: group('Votes for BEAR', {
    funding_below: percentPerYear(0, 'funding in % per year below this'),
    basis_below: percentPerYear(2, 'basis in % per year below this'),
    rsi_below: index(30, 'RSI below this'),
    fear_greed_below: index(25, 'fear and greed index below this'),
    votes: votes(3, 'votes needed'),
  }),
  crisis: group('Votes for CRISIS', {
    funding_below: percentPerYear(-10, 'funding in % per year below this'),
    basis_above: percentPerYear(8, 'basis in % per year above this'),
    basis_below: percentPerYear(1, 'or below this'),
    fear_greed_below: index(15, 'fear and greed index below this'),
    votes: votes(2, 'votes needed'),
  }),
})

const ramp = (signal: string, [neutral, from, to, points]: readonly [number, number, number, number]) =>
  group(`Points against the thesis from ${signal}`, {
    neutral: number(neutral, { min: -1000, max: 1000 }, `${signal} that says nothing`),
    from: number(from, { min: 0, max: 1000 }, 'distance on the crowded side where points begin'),
    to: number(to, { above: 0, max: 1000 }, 'distance where all points are given'),
    points: number(points, { min: 0, max: 100 }, 'points at that distance'),
  })

export const cts = group('Counter-thesis: how crowded the own side is', {
  rsi: ramp('RSI', [50, 5, 30, 25]),
  funding: ramp('funding', [10, 0, 30, 25]),
  basis: ramp('basis', [5, 1, 7, 20]),
  crisis_points: number(30, { min: 0, max: 100 }, 'points in CRISIS'),
  max_points: number(100, { min: 0, max: 1000 }, 'points in all, at most'),
  damping_points: number(200, { above: 0, max: 10_000 }, 'points that would silence a conviction'),
})
