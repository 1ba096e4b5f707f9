import { joinedBy } from '../shared/joined-text.ts'

/** No registered name contains the separator. Authors with other names have no vote. */
export const SEPARATOR = '\n'

/** Key of a pair: first the author of the later call, then the author of the earlier one. */
export const pairKey = joinedBy(SEPARATOR)

type Authors = readonly [later: string, earlier: string]

/** Cached, because every cycle needs the same pairs. */
export const authorsIn = (key: string): Authors => {
  const known = split.get(key)
  if (known !== undefined) return known
  const at = key.indexOf(SEPARATOR)
  const authors: Authors = at === -1 ? [key, ''] : [nameOf(key.slice(0, at)), nameOf(key.slice(at + 1))]
  if (split.size >= REMEMBERED_MAX) split.clear()
  split.set(key, authors)
  return authors
}

/** Returns one shared string per name, because distinct strings with equal text are compared letter by letter. */
const nameOf = (text: string): string => {
  const known = names.get(text)
  if (known !== undefined) return known
  if (names.size >= REMEMBERED_MAX) names.clear()
  names.set(text, text)
  return text
}

/** Same limit as the number of pairs. */
const REMEMBERED_MAX = 100_000
const split = new Map<string, Authors>()
const names = new Map<string, string>()
