import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

/** The server's end of a WebSocket: short texts, no extensions. */
export interface ServerSocket {
  readonly path: string
  send(text: string): void
  destroy(): void
}

export interface ServerSocketEvents {
  readonly onText: (text: string) => void
  readonly onClose: () => void
  /** A mute peer does not even answer pings. */
  readonly isMute: () => boolean
}

export const acceptSocket = (
  request: IncomingMessage,
  stream: Duplex,
  events: ServerSocketEvents,
): ServerSocket => {
  const accept = createHash('sha1')
    .update(`${request.headers['sec-websocket-key'] ?? ''}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64')
  stream.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  )
  let buffered = Buffer.alloc(0)
  stream.on('data', (chunk: Buffer) => {
    buffered = Buffer.concat([buffered, chunk])
    for (let frame = frameIn(buffered); frame !== null; frame = frameIn(buffered)) {
      buffered = buffered.subarray(frame.length)
      if (events.isMute()) continue
      if (frame.opcode === TEXT) events.onText(frame.payload.toString())
      if (frame.opcode === PING) stream.write(frameOf(PONG, frame.payload))
      if (frame.opcode === CLOSE) stream.end(frameOf(CLOSE, frame.payload))
    }
  })
  // The server keeps its half open otherwise.
  stream.on('end', () => stream.destroy())
  stream.on('error', () => stream.destroy())
  stream.on('close', events.onClose)
  return {
    path: request.url ?? '',
    send: (text) => {
      if (stream.writable) stream.write(frameOf(TEXT, Buffer.from(text)))
    },
    destroy: () => stream.destroy(),
  }
}

const TEXT = 1
const CLOSE = 8
const PING = 9
const PONG = 10

interface Frame {
  readonly opcode: number
  readonly payload: Buffer
  readonly length: number
}

/** The first frame, if it is whole. Clients mask what they send. */
const frameIn = (bytes: Buffer): Frame | null => {
  if (bytes.length < 2) return null
  const short = bytes.readUInt8(1) & 0x7f
  const isLong = short === 126
  const start = (isLong ? 4 : 2) + 4
  if (bytes.length < start) return null
  const size = isLong ? bytes.readUInt16BE(2) : short
  if (bytes.length < start + size) return null
  const mask = bytes.subarray(start - 4, start)
  const payload = Buffer.from(
    bytes.subarray(start, start + size).map((byte, index) => byte ^ (mask[index % 4] ?? 0)),
  )
  return { opcode: bytes.readUInt8(0) & 0x0f, payload, length: start + size }
}

const frameOf = (opcode: number, payload: Buffer): Buffer => {
  const head =
    payload.length < 126
      ? Buffer.from([0x80 | opcode, payload.length])
      : Buffer.from([0x80 | opcode, 126, payload.length >> 8, payload.length & 0xff])
  return Buffer.concat([head, payload])
}
