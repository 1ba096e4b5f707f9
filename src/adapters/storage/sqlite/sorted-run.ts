import { Bloom } from './bloom.ts'

/** Keys per run. Which keys are in a run follows from the log alone: the next so many behind the run before. */
export const RUN_KEYS = 65_536

/** Where a run of sealed keys stands. */
export interface RunPlace {
  readonly run: number
  /** The seq up to which the run before reaches. */
  readonly afterSeq: number
}

/** Stored in chunks: the entries of some neighbouring hashes under a number that is made of the first. */
export interface SortedRun {
  readonly lastSeq: number
  readonly chunkIds: readonly number[]
  entriesOf(chunk: number): Uint8Array
  bloom(): Uint8Array
}

/** Keys by hash, and by seq where the hash is the same. */
export const sortRun = (
  { run, afterSeq }: RunPlace,
  hashes: readonly number[],
  seqs: readonly number[],
): SortedRun => {
  const count = hashes.length
  const hashAt = (index: number): number => hashes[index] ?? 0
  // Hash and index packed into one number each: those sort without a call per pair.
  const order = Float64Array.from(
    { length: count },
    (_, index) => unsigned(hashAt(index)) * count + index,
  ).sort()
  const indexAt = (place: number): number => (order[place] ?? 0) % count
  const starts = chunkStarts(count, (place) => hashAt(indexAt(place)))
  return {
    lastSeq: seqs[count - 1] ?? 0,
    chunkIds: starts.map((place) => chunkId(run, hashAt(indexAt(place)))),
    entriesOf: (chunk) => {
      const from = starts[chunk] ?? count
      const to = starts[chunk + 1] ?? count
      const entries = Buffer.allocUnsafe((to - from) * ENTRY_BYTES)
      for (let place = from; place < to; place += 1) {
        const at = (place - from) * ENTRY_BYTES
        entries.writeInt32BE(hashAt(indexAt(place)), at)
        entries.writeUInt32BE((seqs[indexAt(place)] ?? 0) - afterSeq, at + HASH_BYTES)
      }
      return entries
    },
    bloom: () => {
      const bloom = new Bloom()
      for (let index = 0; index < count; index += 1) bloom.add(hashAt(index))
      return bloom.bytes
    },
  }
}

/** The number of the last chunk that may hold this hash: the one with the greatest number up to this. */
export const chunkId = (run: number, hash: number): number => run * HASHES + unsigned(hash)

/** The seqs that have this hash in a chunk of a run. */
export const seqsInChunk = (entries: Uint8Array, hash: number, { afterSeq }: RunPlace): readonly number[] => {
  const view = new DataView(entries.buffer, entries.byteOffset, entries.byteLength)
  const seqs: number[] = []
  for (let at = 0; at < entries.byteLength; at += ENTRY_BYTES) {
    if (view.getInt32(at) === hash) seqs.push(afterSeq + view.getUint32(at + HASH_BYTES))
  }
  return seqs
}

const HASHES = 2 ** 32
const HASH_BYTES = 4
const ENTRY_BYTES = 8
/** Four of them fill a page. */
const CHUNK_ENTRIES = 250

const unsigned = (hash: number): number => hash >>> 0

/** Equal hashes are never divided, so that one chunk has all of them. */
const chunkStarts = (count: number, hashAtPlace: (place: number) => number): readonly number[] => {
  const starts: number[] = []
  for (let place = 0; place < count;) {
    starts.push(place)
    place = Math.min(place + CHUNK_ENTRIES, count)
    while (place < count && hashAtPlace(place) === hashAtPlace(place - 1)) place += 1
  }
  return starts
}
