import { appended } from '../../shared/appended.ts'
import type { Usd } from '../../shared/money.ts'

/** Equity from this time until the next sample. */
export interface EquitySample {
  readonly atMs: number
  readonly equity: Usd
}

/**
 * Equity over time in several resolutions: older times are kept in longer steps. Equal neighbours are merged into one
 * sample.
 */
export type EquityCurve = readonly EquityRing[]

/** A bounded list of samples, newest last. Stored in pieces, so that adding a sample copies little. */
interface EquityRing {
  readonly pieces: readonly (readonly EquitySample[])[]
  readonly newest: readonly EquitySample[]
}

/**
 * Length of a step, each a multiple of the first, and number of kept samples. They suffice for 240 points of any range
 * whose points are at least a step apart.
 */
const RINGS = [
  { stepMs: 15_000, samplesMax: 1440 },
  { stepMs: 90_000, samplesMax: 1440 },
  { stepMs: 540_000, samplesMax: 1200 },
  { stepMs: 2_520_000, samplesMax: 1100 },
] as const

const PIECE = 60

export const INITIAL_CURVE: EquityCurve = RINGS.map(() => ({ pieces: [], newest: [] }))

/** Records that equity was `equity` from `sinceMs` until now. Earlier values within the same step are not kept. */
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
 * Equity at evenly spaced times, oldest first. Each time is the end of a step, so its value is exact. A range with few
 * steps has fewer points than requested.
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
    // At the end of a step, the sample of the step is exact.
    const atMs = Math.ceil((sinceMs + point * apartMs) / stepMs) * stepMs
    if (atMs >= untilMs) break
    while ((samples[next + 1]?.atMs ?? Infinity) < atMs) next += 1
    const sample = samples[next]
    if (sample !== undefined && atMs !== read.at(-1)?.atMs) read.push({ atMs, equity: sample.equity })
  }
  return read
}

/** Removes samples that a wrong clock stored beyond this time. */
const upTo = ({ pieces, newest }: EquityRing, nowMs: number): EquityRing => {
  const isPast = ({ atMs }: EquitySample): boolean => atMs <= nowMs
  return {
    pieces: pieces.map((piece) => piece.filter(isPast)).filter((piece) => piece.length > 0),
    newest: newest.filter(isPast),
  }
}

/** Whether a step ends between the two times. */
const endsIn = (stepMs: number, sinceMs: number, nowMs: number): boolean =>
  Math.floor(sinceMs / stepMs) !== Math.floor(nowMs / stepMs)

const newestOf = ({ pieces, newest }: EquityRing): EquitySample | undefined =>
  newest.at(-1) ?? pieces.at(-1)?.at(-1)

const samplesOf = (ring: EquityRing | undefined): readonly EquitySample[] =>
  ring === undefined ? [] : [...ring.pieces.flat(), ...ring.newest]

const added = ({ pieces, newest }: EquityRing, sample: EquitySample, samplesMax: number): EquityRing => {
  if (newest.length < PIECE) return { pieces, newest: appended(newest, 0, sample) }
  const piecesMax = samplesMax / PIECE
  return { pieces: [...pieces, newest].slice(-piecesMax), newest: [sample] }
}
