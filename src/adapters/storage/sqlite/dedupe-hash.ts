/** Keys are looked up by 32 bits, which is four bytes in a row. Whoever finds one compares the key itself. */
export const dedupeHash = (key: string): number => {
  let hash = 0x9747b28c
  for (let index = 0; index < key.length; index += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x5bd1e995)
    hash ^= hash >>> 15
  }
  return mix(hash)
}

/** Every bit of the result depends on every bit given. */
export const mix = (bits: number): number => {
  let mixed = bits
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
