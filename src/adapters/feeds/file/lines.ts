import { createReadStream } from 'node:fs'

export interface Line {
  /** From 1. */
  readonly number: number
  /** Without its line end; null when it is too long. */
  readonly text: string | null
  readonly startByte: number
}

export interface LineRange {
  readonly startByte: number
  /** Not included. Null: to the end of the file. */
  readonly endByte: number | null
  readonly firstNumber: number
}

export const WHOLE_FILE: LineRange = { startByte: 0, endByte: null, firstNumber: 1 }

/** The lines of a file, in chunks as they are read: only one chunk is in memory. */
export async function* readLines(path: string, range: LineRange): AsyncGenerator<readonly Line[]> {
  const { startByte, endByte } = range
  if (endByte !== null && endByte <= startByte) return
  const stream = createReadStream(path, {
    start: startByte,
    ...(endByte === null ? {} : { end: endByte - 1 }),
    highWaterMark: CHUNK_BYTES,
  })
  const splitter = createSplitter(range)
  for await (const chunk of stream) yield splitter.split(chunk as Buffer)
  yield splitter.rest()
}

const CHUNK_BYTES = 262_144
/** Ten times a row of two hundred symbols with all their columns. */
const LINE_BYTES_MAX = 1_048_576
const LINE_FEED = 0x0a
const BYTE_ORDER_MARK = '\uFEFF'

interface Splitter {
  split(chunk: Buffer): readonly Line[]
  rest(): readonly Line[]
}

const createSplitter = ({ startByte, firstNumber }: LineRange): Splitter => {
  let number = firstNumber
  let lineByte = startByte
  let head: Buffer = Buffer.alloc(0)
  let isOverlong = false

  const endLine = (bytes: Buffer, length: number): Line => {
    const whole = head.length === 0 ? bytes : Buffer.concat([head, bytes])
    const isTooLong = isOverlong || whole.length > LINE_BYTES_MAX
    const line: Line = { number, text: isTooLong ? null : textOf(whole, number), startByte: lineByte }
    number += 1
    lineByte += length
    head = Buffer.alloc(0)
    isOverlong = false
    return line
  }

  let heldBytes = 0
  return {
    split: (chunk) => {
      const lines: Line[] = []
      let from = 0
      for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
        lines.push(endLine(chunk.subarray(from, end), heldBytes + end - from + 1))
        heldBytes = 0
        from = end + 1
      }
      heldBytes += chunk.length - from
      if (heldBytes > LINE_BYTES_MAX) isOverlong = true
      head = isOverlong ? Buffer.alloc(0) : Buffer.concat([head, chunk.subarray(from)])
      return lines
    },
    rest: () => (heldBytes === 0 ? [] : [endLine(Buffer.alloc(0), heldBytes)]),
  }
}

const textOf = (bytes: Buffer, number: number): string => {
  const text = bytes.toString('utf8')
  const body = text.endsWith('\r') ? text.slice(0, -1) : text
  return number === 1 && body.startsWith(BYTE_ORDER_MARK) ? body.slice(1) : body
}
