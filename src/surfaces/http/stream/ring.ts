import type { LogRecord } from '../../../core/log/event.ts'
import { assert } from '../../../core/shared/assert.ts'
import type { Filter } from './filter.ts'
import { chunkOf, frameOf, type Chunk, type Frame } from './frames.ts'
import type { StreamLimits } from './limits.ts'

type RingLimits = Pick<StreamLimits, 'ringEventsMax' | 'ringBytesMax' | 'writeBytesMax'>

/** The newest events as finished frames. Seqs have no gaps, so a place in it is a seq and nothing else. */
export class FrameRing {
  readonly #limits: RingLimits
  readonly #frames = new Map<number, Frame>()
  readonly #shared = new Map<string, SharedChunk>()
  /** The one that was asked for last: where all want the same, none is looked up. */
  #last: SharedChunk | null = null
  #bytes = 0
  #oldest: number
  #newest: number

  /** Begins behind this seq, with nothing in it. */
  constructor(seq: number, limits: RingLimits) {
    this.#limits = limits
    this.#newest = seq
    this.#oldest = seq + 1
  }

  /** The last seq that was pushed. */
  get newest(): number {
    return this.#newest
  }

  /** The first seq that is still here; one behind the newest while nothing is. */
  get oldest(): number {
    return this.#oldest
  }

  push(record: LogRecord): void {
    assert(record.seq === this.#newest + 1, `event ${record.seq} must not follow ${this.#newest}`)
    const frame = frameOf(record)
    this.#frames.set(record.seq, frame)
    this.#newest = record.seq
    this.#bytes += frame.bytes.length
    while (this.#frames.size > this.#limits.ringEventsMax || this.#bytes > this.#limits.ringBytesMax)
      this.#dropOldest()
  }

  /** How many of the events behind `after` the filter lets through. */
  count(after: number, { wants }: Filter): number {
    let count = 0
    for (let seq = Math.max(after + 1, this.#oldest); seq <= this.#newest; seq += 1) {
      if (wants(this.#at(seq).category)) count += 1
    }
    return count
  }

  /** What comes behind `after`, up to the size of one write. Clients at one place get the same bytes. */
  chunkAfter(after: number, filter: Filter): Chunk {
    assert(after + 1 >= this.#oldest && after <= this.#newest, `the ring must reach back to ${after}`)
    const known = this.#last?.filter === filter ? this.#last : this.#shared.get(filter.key)
    if (known?.after === after && known.newest === this.#newest) {
      this.#last = known
      return known.chunk
    }
    const chunk = this.#collect(after, filter)
    this.#last = { filter, after, newest: this.#newest, chunk }
    this.#shared.set(filter.key, this.#last)
    return chunk
  }

  /** Lets go of the bytes that were shared. */
  forgetShared(): void {
    this.#shared.clear()
    this.#last = null
  }

  #collect(after: number, { wants }: Filter): Chunk {
    const frames: Frame[] = []
    let bytes = 0
    let seq = after
    while (seq < this.#newest && bytes < this.#limits.writeBytesMax) {
      seq += 1
      const frame = this.#at(seq)
      if (!wants(frame.category)) continue
      frames.push(frame)
      bytes += frame.bytes.length
    }
    return chunkOf(frames, seq)
  }

  #at(seq: number): Frame {
    const frame = this.#frames.get(seq)
    assert(frame !== undefined, `event ${seq} must be in the ring`)
    return frame
  }

  #dropOldest(): void {
    this.#bytes -= this.#at(this.#oldest).bytes.length
    this.#frames.delete(this.#oldest)
    this.#oldest += 1
  }
}

interface SharedChunk {
  readonly filter: Filter
  readonly after: number
  readonly newest: number
  readonly chunk: Chunk
}
