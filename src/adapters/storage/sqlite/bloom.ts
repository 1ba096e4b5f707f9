import { mix } from './dedupe-hash.ts'

/** 16 bits for each of 65,536 keys: one unknown key in 1,700 looks known. */
const BLOOM_BITS = 2 ** 20
const BLOOM_BYTES = BLOOM_BITS / 8
const PROBES = 8

/** May say yes for a hash that was never added, never no for one that was. */
export class Bloom {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array = new Uint8Array(BLOOM_BYTES)) {
    if (bytes.length !== BLOOM_BYTES)
      throw new Error(`a Bloom filter has ${BLOOM_BYTES} bytes, not ${bytes.length}`)
    this.bytes = bytes
  }

  add(hash: number): void {
    const step = stepOf(hash)
    for (let probe = 0, bit = mix(hash); probe < PROBES; probe += 1, bit += step) {
      const at = bit & (BLOOM_BITS - 1)
      this.bytes[at >>> 3] = (this.bytes[at >>> 3] ?? 0) | (1 << (at & 7))
    }
  }

  mayHave(hash: number): boolean {
    const step = stepOf(hash)
    for (let probe = 0, bit = mix(hash); probe < PROBES; probe += 1, bit += step) {
      const at = bit & (BLOOM_BITS - 1)
      if (((this.bytes[at >>> 3] ?? 0) & (1 << (at & 7))) === 0) return false
    }
    return true
  }
}

/** Odd, so that the probes of one hash are all different; small enough to stay exact in the sums. */
const stepOf = (hash: number): number => (mix(hash ^ 0x2545f491) & (BLOOM_BITS - 1)) | 1
