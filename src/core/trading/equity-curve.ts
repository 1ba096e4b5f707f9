import type { Usd } from '../shared/money.ts'

/** From then on equity was this much, until the next sample. */
export interface EquitySample {
  readonly atMs: number
  readonly equity: Usd
}

/** Equity over time, once for each step: what is old is known in longer steps. Equal neighbours are one sample. */
export type EquityCurve = readonly EquityRing[]

/** Bounded; newest last. Kept in pieces, so that one more sample copies little. */
interface EquityRing {
  readonly pieces: readonly (readonly EquitySample[])[]
  readonly newest: readonly EquitySample[]
}

/**
 * Seconds of a step, each a multiple of the first, and how many samples are kept: enough for 240 points of a range
 * whose points stand at least as far apart as the step.
 */
const RINGS = [
  { stepMs: 15_000, samplesMax: 1440 },
  { stepMs: 90_000, samplesMax: 1440 },
  { stepMs: 540_000, samplesMax: 1200 },
  { stepMs: 2_520_000, samplesMax: 1100 },
] as const

const PIECE = 60

export const INITIAL_CURVE: EquityCurve = RINGS.map(() => ({ pieces: [], newest: [] }))

/** Equity was `equity` from `sinceMs` until now. Whatever it was earlier in the same step is not kept. */
export const evolveCurve = (curve: EquityCurve, sinceMs: number, nowMs: number, equity: Usd): EquityCurve => {
  if (nowMs < sinceMs) return curve.map((ring) => upTo(ring, nowMs))
  if (!endsIn(RINGS[0].stepMs, sinceMs, nowMs)) return curve
  return RINGS.map(({ stepMs, samplesMax }, index) => {
    const ring = curve[index] ?? { pieces: [], newest: [] }
    if (!endsIn(stepMs, sinceMs, nowMs) || newestOf(ring)?.equity === equity) return ring
    return added(ring, { atMs: sinceMs, equity }, samplesMax)
  })
}

/**
 * What equity was, oldest first, at evenly spread times: each is the end of a step, so what it says is exact. A range of
 * few steps has fewer points than wanted.
 */
export const readCurve = (
  curve: EquityCurve,
  {
    sinceMs,
    untilMs,
    points,
  }: { readonly sinceMs: number; readonly untilMs: number; readonly points: number },
): readonly EquitySample[] => {
  const apartMs = (untilMs - sinceMs) / points
  const index = Math.max(
    0,
    RINGS.findLastIndex(({ stepMs }) => stepMs <= apartMs),
  )
  const { stepMs } = RINGS[index] ?? RINGS[0]
  const samples = samplesOf(curve[index])
  const read: EquitySample[] = []
  let next = 0
  for (let point = 0; point < points; point += 1) {
    // At the end of a step the sample of the step is what equity was.
    const atMs = Math.ceil((sinceMs + point * apartMs) / stepMs) * stepMs
    if (atMs >= untilMs) break
    while ((samples[next + 1]?.atMs ?? Infinity) < atMs) next += 1
    const sample = samples[next]
    if (sample !== undefined && atMs !== read.at(-1)?.atMs) read.push({ atMs, equity: sample.equity })
  }
  return read
}

/** Without what a clock that was ahead has left behind. */
const upTo = ({ pieces, newest }: EquityRing, nowMs: number): EquityRing => {
  const isPast = ({ atMs }: EquitySample): boolean => atMs <= nowMs
  return {
    pieces: pieces.map((piece) => piece.filter(isPast)).filter((piece) => piece.length > 0),
    newest: newest.filter(isPast),
  }
}

/** Whether a step ends between the two. */
const endsIn = (stepMs: number, sinceMs: number, nowMs: number): boolean =>
  Math.floor(sinceMs / stepMs) !== Math.floor(nowMs / stepMs)

const newestOf = ({ pieces, newest }: EquityRing): EquitySample | undefined =>
  newest.at(-1) ?? pieces.at(-1)?.at(-1)

const samplesOf = (ring: EquityRing | undefined): readonly EquitySample[] =>
  ring === undefined ? [] : [...ring.pieces.flat(), ...ring.newest]

const added = ({ pieces, newest }: EquityRing, sample: EquitySample, samplesMax: number): EquityRing => {
  if (newest.length < PIECE) return { pieces, newest: [...newest, sample] }
  const piecesMax = samplesMax / PIECE
  return { pieces: [...pieces, newest].slice(-piecesMax), newest: [sample] }
}
