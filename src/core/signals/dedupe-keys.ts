/**
 * A key that counts only within the name it belongs to. A name with a colon has its length before it and follows an empty
 * one, which nobody has: otherwise `a` with `b:c` and `a:b` with `c` would share a key. All other names have the keys that
 * they always had, so that nothing stored under them is stored again.
 */
export const scopedKey = (scope: string, name: string, key: string): string =>
  name.includes(':') ? `${scope}::${name.length}:${name}:${key}` : `${scope}:${name}:${key}`

/** The key that earlier versions gave to the same signal of a name with colons; null for all other keys. */
export const formerKey = (key: string): string | null => {
  const found = OF_NAME_WITH_COLONS.exec(key)
  return found === null ? null : `${found[1]}:${key.slice(found[0].length)}`
}

/** Under which a signal may be stored already. */
export const keysToFind = (key: string | null): readonly string[] => {
  if (key === null) return []
  const former = formerKey(key)
  return former === null ? [key] : [key, former]
}

const OF_NAME_WITH_COLONS = /^([^:]+)::[0-9]+:/
