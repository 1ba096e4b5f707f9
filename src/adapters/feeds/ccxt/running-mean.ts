/** The mean of what was told within a window, without keeping all of it. Null for what is unknown now. */
export type RunningMean = (value: number | null, told: Told) => number | null

export interface Told {
  readonly atMs: number
  readonly windowMs: number
}

/** A plain mean while the window fills, then one in which the old fades. Who was away for a whole window starts anew. */
export const createRunningMean = (): RunningMean => {
  let mean = 0
  let count = 0
  let lastMs = 0
  return (value, { atMs, windowMs }) => {
    if (value === null) return null
    const passed = (atMs - lastMs) / windowMs
    count = passed >= 1 ? 1 : count + 1
    lastMs = atMs
    mean += (value - mean) * Math.max(1 / count, Math.min(1, passed))
    return mean
  }
}
