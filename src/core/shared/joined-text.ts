/**
 * Joins two texts; the same two give the same text again. Decisions build few keys again and again, and a text that was
 * just built has to be hashed and compared letter by letter in every map.
 */
export const joinedBy = (separator: string): ((one: string, other: string) => string) => {
  const texts = new Map<string, Map<string, string>>()
  let count = 0
  return (one, other) => {
    const known = texts.get(one)?.get(other)
    if (known !== undefined) return known
    // Clients choose the texts, so their number must be bounded.
    if (count >= TEXTS_MAX) {
      texts.clear()
      count = 0
    }
    const own = texts.get(one) ?? new Map<string, string>()
    const text = `${one}${separator}${other}`
    texts.set(one, own.set(other, text))
    count += 1
    return text
  }
}

const TEXTS_MAX = 100_000
