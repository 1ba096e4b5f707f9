import { joinedBy } from '../shared/joined-text.ts'

/** No registered name contains it, and others have no vote. */
export const SEPARATOR = '\n'

/** The author who spoke later and the one who spoke before, as one key. */
export const pairKey = joinedBy(SEPARATOR)

type Authors = readonly [later: string, earlier: string]

/** Every cycle asks for the same pairs. */
export const authorsIn = (key: string): Authors => {
  const known = split.get(key)
  if (known !== undefined) return known
  const at = key.indexOf(SEPARATOR)
  const authors: Authors = at === -1 ? [key, ''] : [nameOf(key.slice(0, at)), nameOf(key.slice(at + 1))]
  if (split.size >= REMEMBERED_MAX) split.clear()
  split.set(key, authors)
  return authors
}

/** Each name is one text, because equal texts are compared letter by letter. */
const nameOf = (text: string): string => {
  const known = names.get(text)
  if (known !== undefined) return known
  if (names.size >= REMEMBERED_MAX) names.clear()
  names.set(text, text)
  return text
}

/** As many as there may be pairs. */
const REMEMBERED_MAX = 100_000
const split = new Map<string, Authors>()
const names = new Map<string, string>()
