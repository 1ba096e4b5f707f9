import type { Socket } from 'node:net'

/**
 * Writes, and says whether the connection took everything at once. What it did not take follows by itself, and before
 * whatever is written next.
 */
export type DirectWrite = (socket: Socket, bytes: Buffer) => boolean

/** What Node has below its sockets, as far as it is used here. */
export interface BelowSockets {
  /** What Node tells the end of one write with. */
  readonly WriteWrap: new () => { buffer?: Buffer }
  readonly streamBaseState: Readonly<Record<number, number>>
  /** Where the state says whether the last write was not done at once. */
  readonly kLastWriteWasAsync: number
}

/** Those whose code says that this is so. With any other, sockets write themselves. */
export const KNOWN_NODE_VERSIONS: readonly number[] = [20, 22, 24]

/**
 * A socket's own write makes an object with which to tell of its end. Nearly always the connection takes everything at
 * once and nobody asks; yet with a thousand listeners that object takes a quarter of the time, and makes the kernel's
 * part of each write a third slower in processes whose libraries happen to lie badly in memory. Here one object does
 * for all writes until one is not done at once. Node does not document this way, so it is taken only where it is known
 * and nothing is special (decision 0014).
 */
export const directWrite = (below: BelowSockets | null): DirectWrite => {
  if (below === null) return writeBySocket
  const { WriteWrap, streamBaseState, kLastWriteWasAsync } = below
  let request = new WriteWrap()
  return (socket, bytes) => {
    const handle = isPlain(socket) ? handleOf(socket) : null
    if (handle === null) return writeBySocket(socket, bytes)
    const failure = handle.writeBuffer(request, bytes)
    if (failure === 0 && streamBaseState[kLastWriteWasAsync] === 0) return true
    // Node writes the rest later, from these bytes, and holds them by their request.
    request.buffer = bytes
    request = new WriteWrap()
    if (failure === 0) return false
    // Nothing of it is left to wait for, and part of it may be on its way: it must not be written again.
    socket.destroy()
    return true
  }
}

/** Null in a Node that is not known, or that does not let anybody see below its sockets. */
export const belowSockets = (version = process.versions.node): BelowSockets | null => {
  if (!KNOWN_NODE_VERSIONS.includes(Number.parseInt(version, 10))) return null
  try {
    const found = (process as unknown as { binding(name: string): Partial<BelowSockets> }).binding(
      'stream_wrap',
    )
    const { WriteWrap, streamBaseState, kLastWriteWasAsync } = found
    if (WriteWrap === undefined || streamBaseState === undefined || kLastWriteWasAsync === undefined)
      return null
    return { WriteWrap, streamBaseState, kLastWriteWasAsync }
  } catch {
    // With its permission model, Node shows nothing.
    return null
  }
}

interface Handle {
  /** Zero, or the number of the system's error. */
  writeBuffer(request: object, bytes: Buffer): number
}

/** None once the socket is destroyed. */
const handleOf = (socket: Socket): Handle | null => {
  const { _handle: handle } = socket as unknown as { readonly _handle?: Handle | null }
  return handle ?? null
}

/** What waits in the socket goes first, and its timer must hear of each write. */
const isPlain = (socket: Socket): boolean =>
  socket.writableLength === 0 && (socket.timeout === undefined || socket.timeout === 0)

const writeBySocket: DirectWrite = (socket, bytes) => {
  socket.write(bytes)
  return socket.writableLength === 0
}
