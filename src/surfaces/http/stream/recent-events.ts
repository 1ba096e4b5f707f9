import type { LogRecord } from '../../../core/log/event.ts'
import { assert } from '../../../core/shared/assert.ts'
import { chunkOf, frameOf, type Chunk, type Frame, type StreamFilter } from './frames.ts'

export interface RecentEventsLimits {
  /** Limit of the newest events kept in memory. */
  readonly recentEventsMax: number
  readonly recentBytesMax: number
  /** Size at which a write ends, including the event that reaches it. */
  readonly writeBytesMax: number
}

const HIDDEN: Frame = { category: '', bytes: Buffer.alloc(0) }

/** The newest events as finished frames. Seqs have no gaps, so a seq is a position. */
export class RecentEvents {
  readonly #limits: RecentEventsLimits
  readonly #frames = new Map<number, Frame>()
  /** The last chunk of each filter: clients at the same position share its bytes. */
  readonly #chunks = new Map<
    string,
    { readonly after: number; readonly newest: number; readonly chunk: Chunk }
  >()
  #bytes = 0
  #oldest: number
  #newest: number

  /** Starts empty after this seq. */
  constructor(seq: number, limits: RecentEventsLimits) {
    this.#limits = limits
    this.#newest = seq
    this.#oldest = seq + 1
  }

  /** The last seq that was pushed. */
  get newest(): number {
    return this.#newest
  }

  /** The first seq that is still kept; `newest + 1` if none is. */
  get oldest(): number {
    return this.#oldest
  }

  /** A hidden event keeps its position, and is sent to no client. */
  push(record: LogRecord, { isHidden = false } = {}): void {
    assert(record.seq === this.#newest + 1, `event ${record.seq} must not follow ${this.#newest}`)
    const frame = isHidden ? HIDDEN : frameOf(record)
    this.#frames.set(record.seq, frame)
    this.#newest = record.seq
    this.#bytes += frame.bytes.length
    const { recentEventsMax, recentBytesMax } = this.#limits
    while (this.#frames.size > recentEventsMax || this.#bytes > recentBytesMax) this.#dropOldest()
  }

  /** Number of events after `after` that pass the filter. */
  count(after: number, { wants }: StreamFilter): number {
    let count = 0
    for (let seq = Math.max(after + 1, this.#oldest); seq <= this.#newest; seq += 1) {
      const frame = this.#at(seq)
      if (frame !== HIDDEN && wants(frame.category)) count += 1
    }
    return count
  }

  /** The events after `after`, up to the size of one write. */
  chunkAfter(after: number, filter: StreamFilter): Chunk {
    assert(after + 1 >= this.#oldest && after <= this.#newest, `recent events must reach back to ${after}`)
    const known = this.#chunks.get(filter.key)
    if (known?.after === after && known.newest === this.#newest) return known.chunk
    const chunk = this.#collect(after, filter)
    this.#chunks.set(filter.key, { after, newest: this.#newest, chunk })
    return chunk
  }

  releaseChunks(): void {
    this.#chunks.clear()
  }

  #collect(after: number, { wants }: StreamFilter): Chunk {
    const frames: Frame[] = []
    let bytes = 0
    let seq = after
    while (seq < this.#newest && bytes < this.#limits.writeBytesMax) {
      seq += 1
      const frame = this.#at(seq)
      if (frame === HIDDEN || !wants(frame.category)) continue
      frames.push(frame)
      bytes += frame.bytes.length
    }
    return chunkOf(frames, seq)
  }

  #at(seq: number): Frame {
    const frame = this.#frames.get(seq)
    assert(frame !== undefined, `event ${seq} must be among the recent ones`)
    return frame
  }

  #dropOldest(): void {
    this.#bytes -= this.#at(this.#oldest).bytes.length
    this.#frames.delete(this.#oldest)
    this.#oldest += 1
  }
}
