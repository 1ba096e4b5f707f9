/** How long a bar is: the most frequent distance between times in order; null when there is none of whole seconds. */
export const resolutionSecondsOf = (timesMs: readonly number[]): number | null => {
  const counts = new Map<number, number>()
  timesMs.forEach((ms, index) => {
    const distanceMs = ms - (timesMs[index - 1] ?? ms)
    if (distanceMs > 0 && distanceMs % 1000 === 0) counts.set(distanceMs, (counts.get(distanceMs) ?? 0) + 1)
  })
  // Of equally frequent ones the shortest: the others may be gaps.
  const [first] = [...counts].sort(([oneMs, one], [otherMs, other]) => other - one || oneMs - otherMs)
  return first === undefined ? null : first[0] / 1000
}
