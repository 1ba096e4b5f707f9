import { connect, type Socket } from 'node:net'
import { parentPort } from 'node:worker_threads'

/** Requests to the thread that runs all the clients. */
export type ClientsRequest =
  | {
      readonly kind: 'connect'
      readonly group: string
      readonly port: number
      readonly request: string
      readonly count: number
    }
  /** Answered when all clients of the group together have received this many messages. */
  | { readonly kind: 'await'; readonly group: string; readonly messages: number }
  | { readonly kind: 'rest'; readonly group: string; readonly isResting: boolean }
  | { readonly kind: 'report'; readonly group: string }
  | { readonly kind: 'close' }

export type ClientsMessage =
  | { readonly kind: 'connected'; readonly group: string }
  | { readonly kind: 'received'; readonly group: string }
  | {
      readonly kind: 'report'
      readonly group: string
      /** Number of messages of the client that received the fewest, and of the one that received the most. */
      readonly fewest: number
      readonly most: number
      /** Milliseconds from the time in a message to its arrival, for messages since the last report. */
      readonly latenciesMs: Float64Array
    }

interface Group {
  readonly sockets: Socket[]
  readonly counts: number[]
  /**
   * True if clients that are not timed leave received bytes in the kernel, and read them from time to time. Real
   * clients run on other machines. Here their reading would use the processor of the server whose delay is measured.
   */
  isResting: boolean
  received: number
  awaited: number
  latenciesMs: number[]
  sweptTo: number
}

const port = parentPort
if (port === null) throw new Error('this runs as a thread')
const send = (message: ClientsMessage): void => port.postMessage(message, [])
const groups = new Map<string, Group>()
const MESSAGE = Buffer.from('\ndata: ')
const SENT = Buffer.from('"sent_ns":"')
const SENT_DIGITS = 20
const NOTHING: Buffer = Buffer.alloc(0)
const READ_BUFFER = Buffer.alloc(256 * 1024)

const newGroup = (): Group => ({
  sockets: [],
  counts: [],
  isResting: false,
  received: 0,
  awaited: Number.POSITIVE_INFINITY,
  latenciesMs: [],
  sweptTo: 0,
})

const groupOf = (name: string): Group => {
  const group = groups.get(name)
  if (group === undefined) throw new Error(`there is no group ${name}`)
  return group
}

/** One in this many clients reads the times of its messages. The others only count messages. */
const TIMED_EVERY = 20

const connectClient = (
  name: string,
  index: number,
  to: { readonly port: number; readonly request: string },
): Promise<void> =>
  new Promise((resolve, reject) => {
    const group = groupOf(name)
    const isTimed = index % TIMED_EVERY === 0
    let tail = NOTHING
    group.counts[index] = 0
    const read = (arrived: Buffer): void => {
      // A message may be split between two reads.
      const bytes = tail.length === 0 ? arrived : Buffer.concat([tail, arrived])
      const { count, rest } = isTimed ? readTimes(bytes, group.latenciesMs) : countMessages(bytes)
      tail = rest.length === 0 ? NOTHING : Buffer.from(rest)
      group.counts[index] = (group.counts[index] ?? 0) + count
      group.received += count
      if (group.received < group.awaited) return
      group.awaited = Number.POSITIVE_INFINITY
      send({ kind: 'received', group: name })
    }
    const socket = connect({
      port: to.port,
      host: '127.0.0.1',
      onread: {
        // Shared by all clients, so that the server is measured and not the memory of its clients.
        buffer: READ_BUFFER,
        callback: (length) => {
          resolve()
          read(READ_BUFFER.subarray(0, length))
          return isTimed || !group.isResting
        },
      },
    })
    group.sockets[index] = socket
    socket.on('error', reject)
    socket.write(to.request)
  })

/** Interval at which each resting client reads its received bytes, at a time of its own. */
const REST_MS = 250
const SWEEP_MS = 10

const sweep = (group: Group): void => {
  const slice = Math.ceil((group.sockets.length * SWEEP_MS) / REST_MS)
  const from = group.sweptTo
  group.sweptTo = from + slice >= group.sockets.length ? 0 : from + slice
  for (const socket of group.sockets.slice(from, from + slice)) socket.resume()
}

setInterval(() => {
  for (const group of groups.values()) if (group.isResting) sweep(group)
}, SWEEP_MS)

interface Read {
  readonly count: number
  /** Bytes that may be the start of a message. */
  readonly rest: Buffer
}

const countMessages = (bytes: Buffer): Read => {
  let count = 0
  let from = 0
  for (let at = bytes.indexOf(MESSAGE); at !== -1; at = bytes.indexOf(MESSAGE, from)) {
    count += 1
    from = at + MESSAGE.length
  }
  return { count, rest: bytes.subarray(Math.max(from, bytes.length - MESSAGE.length + 1)) }
}

const readTimes = (bytes: Buffer, latenciesMs: number[]): Read => {
  const nowNs = process.hrtime.bigint()
  let count = 0
  let from = 0
  for (;;) {
    const at = bytes.indexOf(MESSAGE, from)
    if (at === -1) return { count, rest: bytes.subarray(Math.max(from, bytes.length - MESSAGE.length + 1)) }
    const found = bytes.indexOf(SENT, at)
    const sent = found + SENT.length
    if (found === -1 || sent + SENT_DIGITS > bytes.length) return { count, rest: bytes.subarray(at) }
    from = sent + SENT_DIGITS
    latenciesMs.push(Number(nowNs - BigInt(bytes.toString('latin1', sent, from))) / 1e6)
    count += 1
  }
}

const answer = async (request: ClientsRequest): Promise<void> => {
  switch (request.kind) {
    case 'connect': {
      const { group: name, count } = request
      groups.set(name, newGroup())
      for (let index = 0; index < count; index += 1) await connectClient(name, index, request)
      return send({ kind: 'connected', group: name })
    }
    case 'await': {
      const group = groupOf(request.group)
      group.awaited = request.messages
      if (group.received < request.messages) return
      group.awaited = Number.POSITIVE_INFINITY
      return send({ kind: 'received', group: request.group })
    }
    case 'rest': {
      const group = groupOf(request.group)
      group.isResting = request.isResting
      for (const socket of group.sockets) socket.resume()
      return
    }
    case 'report': {
      const group = groupOf(request.group)
      const latenciesMs = Float64Array.from(group.latenciesMs)
      group.latenciesMs = []
      const [fewest, most] = [Math.min(...group.counts), Math.max(...group.counts)]
      return send({ kind: 'report', group: request.group, fewest, most, latenciesMs })
    }
    case 'close':
      process.exit()
  }
}

port.on('message', (request: ClientsRequest) => {
  answer(request).catch((error: unknown) => {
    throw error
  })
})
