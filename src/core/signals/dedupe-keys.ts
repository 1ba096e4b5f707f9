/**
 * A key that is unique within the scope of a name. Otherwise `a` with `b:c` and `a:b` with `c` would share a key: a
 * name with a colon is therefore preceded by its length and an empty name, which no author has. All other names keep
 * the keys of earlier versions, so that signals stored under them are not stored again.
 */
export const scopedKey = (scope: string, name: string, key: string): string =>
  name.includes(':') ? `${scope}::${name.length}:${name}:${key}` : `${scope}:${name}:${key}`

/** The key that earlier versions gave to the same signal of a name with colons; null for all other keys. */
export const formerKey = (key: string): string | null => {
  const found = OF_NAME_WITH_COLONS.exec(key)
  return found === null ? null : `${found[1]}:${key.slice(found[0].length)}`
}

/** Keys under which a signal may be stored already. */
export const keysToFind = (key: string | null): readonly string[] => {
  if (key === null) return []
  const former = formerKey(key)
  return former === null ? [key] : [key, former]
}

const OF_NAME_WITH_COLONS = /^([^:]+)::[0-9]+:/
