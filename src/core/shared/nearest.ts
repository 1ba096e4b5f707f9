const LENGTH_MAX = 64

/** The candidate with the fewest typing mistakes, if they are few for its length. */
export const nearest = (wrong: string, candidates: readonly string[]): string | null => {
  if (wrong.length > LENGTH_MAX) return null
  const typed = wrong.trim().toLowerCase()
  const ranked = candidates
    .map((candidate) => ({ candidate, mistakes: editDistance(typed, candidate.toLowerCase()) }))
    .filter(({ candidate, mistakes }) => mistakes <= mistakesMax(typed, candidate))
    .toSorted((one, other) => one.mistakes - other.mistakes)
  return ranked[0]?.candidate ?? null
}

const mistakesMax = (typed: string, candidate: string): number =>
  Math.max(1, Math.floor(Math.min(typed.length, candidate.length) / 3))

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
const editDistance = (one: string, other: string): number => {
  let beforeLast: readonly number[] = []
  let last: readonly number[] = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1]
      const swapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      current.push(
        Math.min(
          at(last, column) + 1,
          at(current, column - 1) + 1,
          at(last, column - 1) + (same ? 0 : 1),
          swapped ? at(beforeLast, column - 2) + 1 : Infinity,
        ),
      )
    }
    beforeLast = last
    last = current
  }
  return at(last, other.length)
}

const at = (row: readonly number[], column: number): number => row[column] ?? Infinity
