import type { EventItem } from '../../api/log.ts'

/** Calls that were about as sure of themselves. */
export interface Bucket {
  readonly label: string
  readonly calls: number
  /** How sure they were on average, as a share. */
  readonly claimed: number
  /** How many of them were right, as a share. */
  readonly right: number
}

const EDGES = [0, 0.5, 0.6, 0.7, 0.8, 0.9] as const

/** From `attribution.resolved.v1`; calls that are void count for nothing. */
export const bucketsOf = (events: readonly EventItem[]): readonly Bucket[] => {
  const calls = events.flatMap(({ type, payload }) =>
    type.startsWith('attribution.resolved') &&
    typeof payload['hit'] === 'boolean' &&
    typeof payload['probability'] === 'number'
      ? [{ isHit: payload['hit'], probability: payload['probability'] }]
      : [],
  )
  return EDGES.flatMap((low, index) => {
    const high = EDGES[index + 1] ?? 1.01
    const mine = calls.filter(({ probability }) => probability >= low && probability < high)
    if (mine.length === 0) return []
    return [
      {
        label: `${low * 100}–${Math.round(Math.min(1, high) * 100)} %`,
        calls: mine.length,
        claimed: mine.reduce((sum, { probability }) => sum + probability, 0) / mine.length,
        right: mine.filter(({ isHit }) => isHit).length / mine.length,
      },
    ]
  })
}
