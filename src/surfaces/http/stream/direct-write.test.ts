import { connect, createServer, type Server, type Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { belowSockets, directWrite, KNOWN_NODE_VERSIONS } from './direct-write.ts'

let server: Server
/** Both ends of one connection: the far one is paused. */
let near: Socket
let far: Socket

const openPair = async (): Promise<void> => {
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve))
  const { port } = server.address() as { port: number }
  far = connect({ port, host: '127.0.0.1' })
  far.pause()
  near = await accepted
}

beforeEach(async () => {
  server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  await openPair()
})

afterEach(async () => {
  near.destroy()
  far.destroy()
  await new Promise((resolve) => server.close(resolve))
})

const closed = (socket: Socket): Promise<unknown> => new Promise((resolve) => socket.once('close', resolve))

/** Everything that reaches the far end until the near one ends. */
const allThatArrives = async (): Promise<Buffer> => {
  const pieces: Buffer[] = []
  near.end()
  for await (const piece of far) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

/** A write that nobody should use here. */
const forbidWrite = (socket: Socket): void => {
  socket.write = () => {
    throw new Error('this must not go by the socket')
  }
}

const MORE_THAN_IS_TAKEN = 16 * 1024 * 1024

const WAYS = [
  { name: 'past the socket', below: belowSockets() },
  { name: 'by the socket', below: null },
]

describe.each(WAYS)('a write $name', ({ below }) => {
  const write = directWrite(below)

  it('is taken at once when there is room', async () => {
    expect(write(near, Buffer.from('hello '))).toBe(true)
    expect(write(near, Buffer.from('world'))).toBe(true)
    expect(String(await allThatArrives())).toBe('hello world')
  })

  it('says that it was not, and a write behind it hears when it was', async () => {
    expect(write(near, Buffer.alloc(MORE_THAN_IS_TAKEN, 'a'))).toBe(false)
    let isTaken = false
    const taken = new Promise<void>((resolve) =>
      near.write(Buffer.alloc(0), () => {
        isTaken = true
        resolve()
      }),
    )
    await new Promise((resolve) => setImmediate(resolve))
    expect(isTaken).toBe(false)
    const arrived = allThatArrives()
    await taken
    expect((await arrived).length).toBe(MORE_THAN_IS_TAKEN)
  })

  it('keeps its place, whichever way the others went and however much was taken', async () => {
    const writes = fc.array(
      fc.record({
        size: fc.oneof(fc.integer({ min: 0, max: 2000 }), fc.integer({ min: 0, max: 4_000_000 })),
        bySocket: fc.boolean(),
        corked: fc.boolean(),
      }),
      { maxLength: 12 },
    )
    await fc.assert(
      fc.asyncProperty(writes, async (given) => {
        near.destroy()
        await openPair()
        const sent = given.map(({ size }, index) => Buffer.alloc(size, index + 1))
        for (const [index, { bySocket, corked }] of given.entries()) {
          const bytes = sent[index] ?? Buffer.alloc(0)
          if (corked) near.cork()
          if (bySocket) near.write(bytes)
          else write(near, bytes)
          if (corked) process.nextTick(() => near.uncork())
        }
        await new Promise((resolve) => setImmediate(resolve))
        expect((await allThatArrives()).equals(Buffer.concat(sent))).toBe(true)
      }),
      { numRuns: 30 },
    )
  })

  it('holds its bytes until they are gone', async () => {
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    const writeFresh = (fill: string): boolean => write(near, Buffer.alloc(MORE_THAN_IS_TAKEN, fill))
    expect(writeFresh('a')).toBe(false)
    expect(writeFresh('b')).toBe(false)
    collectGarbage()
    await new Promise((resolve) => setImmediate(resolve))
    collectGarbage()
    for (let count = 0; count < 8; count += 1) Buffer.alloc(MORE_THAN_IS_TAKEN, 'x')
    const arrived = await allThatArrives()
    const half = MORE_THAN_IS_TAKEN
    expect(arrived.subarray(0, half).equals(Buffer.alloc(half, 'a'))).toBe(true)
    expect(arrived.subarray(half).equals(Buffer.alloc(half, 'b'))).toBe(true)
  })

  it('to somebody who is gone closes the connection and does nothing else', async () => {
    near.on('error', () => {})
    const gone = closed(near)
    far.resetAndDestroy()
    const timer = setInterval(() => write(near, Buffer.from('is anybody there')), 1)
    await gone
    clearInterval(timer)
    expect(() => write(near, Buffer.from('nobody'))).not.toThrow()
  })
})

describe('past the socket', () => {
  const below = belowSockets()

  it('is found in each version of Node that is known, and looked for in no other', () => {
    const major = Number.parseInt(process.versions.node, 10)
    expect(below !== null).toBe(KNOWN_NODE_VERSIONS.includes(major))
    expect(belowSockets('19.0.0')).toBeNull()
    expect(belowSockets('1000.0.0')).toBeNull()
  })

  it.runIf(below !== null)('goes nothing by it, unless there is a reason', async () => {
    const write = directWrite(below)
    forbidWrite(near)
    expect(write(near, Buffer.from('hello'))).toBe(true)
    near.setTimeout(60_000)
    expect(() => write(near, Buffer.from('its timer must hear'))).toThrow('by the socket')
    near.setTimeout(0)
    expect(write(near, Buffer.from(' again'))).toBe(true)
    near.destroy()
    expect(() => write(near, Buffer.from('is destroyed'))).toThrow('by the socket')
  })

  it.runIf(below !== null)('closes a connection that fails, without a second attempt', async () => {
    const write = directWrite(below)
    const gone = closed(near)
    forbidWrite(near)
    // What it is told of a shut end is an error of the system.
    near.pause()
    const { _handle: handle } = near as unknown as { _handle: { shutdown(request: object): number } }
    const { ShutdownWrap } = (
      process as unknown as { binding(name: string): { ShutdownWrap: new () => object } }
    ).binding('stream_wrap')
    handle.shutdown(new ShutdownWrap())
    await new Promise((resolve) => setImmediate(resolve))
    expect(write(near, Buffer.from('too late'))).toBe(true)
    expect(near.destroyed).toBe(true)
    await gone
  })
})
