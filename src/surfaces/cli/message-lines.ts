import type { Readable } from 'node:stream'

export type MessageLine =
  | { readonly kind: 'message'; readonly text: string }
  /** Longer than anybody would take: it was read to its end and thrown away. */
  | { readonly kind: 'too-long' }

const NEWLINE = 0x0a

/** One message per line, as they come; lines without a word are nothing. The last one needs no line end. */
export async function* messageLines(input: Readable, bytesMax: number): AsyncGenerator<MessageLine> {
  const line = new Line(bytesMax)
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk as Uint8Array | string)
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      line.add(bytes.subarray(start, end))
      yield* line.take()
      start = end + 1
    }
    line.add(bytes.subarray(start))
  }
  yield* line.take()
}

/** What has come of the current line. */
class Line {
  readonly #bytesMax: number
  #pieces: Buffer[] = []
  #length = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  add(piece: Buffer): void {
    this.#length += piece.length
    if (this.#length <= this.#bytesMax) this.#pieces.push(piece)
    else this.#pieces = []
  }

  /** Nothing for an empty line. */
  take(): readonly MessageLine[] {
    const isTooLong = this.#length > this.#bytesMax
    const text = Buffer.concat(this.#pieces).toString('utf8').trim()
    this.#pieces = []
    this.#length = 0
    if (isTooLong) return [{ kind: 'too-long' }]
    return text === '' ? [] : [{ kind: 'message', text }]
  }
}
