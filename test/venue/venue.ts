import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createFaults, type Fault, type Faults } from './faults.ts'
import { MARKET_ROUTES, VenueRefusal } from './routes.ts'
import { createStreams, type Streams } from './streams.ts'
import { acceptSocket } from './web-socket.ts'
import { createWorld, type World } from './world.ts'

/** A venue on this machine that speaks the protocol of Binance, and can be told to misbehave. */
export interface Venue {
  /** Stands before the hosts of the real venue: `<baseUrl>/api.binance.com/api/v3/time`. */
  readonly baseUrl: string
  readonly world: World
  readonly faults: Faults
  readonly streams: Streams
  /** Host and path of every request, in order, with its query. */
  readonly requests: string[]
  /** Requests that are not answered yet. */
  inFlight(): number
  /** Those of them that will be: the venue does not hold them back on purpose. */
  answering(): number
  close(): Promise<void>
}

export interface VenueOptions {
  readonly now: () => number
  /** Zero for any that is free. */
  readonly port?: number
}

export const startVenue = async ({ now, port = 0 }: VenueOptions): Promise<Venue> => {
  const world = createWorld(now)
  const faults = createFaults()
  const streams = createStreams(world)
  const requests: string[] = []
  const waiting = new Set<NodeJS.Timeout>()
  let inFlight = 0
  let heldBack = 0

  const server = createServer((request, response) => {
    inFlight += 1
    response.on('close', () => (inFlight -= 1))
    const { path, query } = partsOf(request)
    requests.push(`${path}?${query.toString()}`)
    const fault = faults.take(path)
    if (fault?.kind === 'slow' || fault?.kind === 'trickle') {
      heldBack += 1
      response.on('close', () => (heldBack -= 1))
    }
    if (fault?.kind === 'slow') {
      const timeout = setTimeout(() => {
        waiting.delete(timeout)
        answer(world, response, path, query)
      }, fault.waitMs)
      waiting.add(timeout)
    } else if (fault === null) answer(world, response, path, query)
    else misbehave(response, fault)
  })
  server.on('upgrade', (request, stream) => {
    const socket = acceptSocket(request, stream, {
      onText: (text) => streams.hear(socket, text),
      onClose: () => streams.leave(socket),
      isMute: () => world.areSocketsMute,
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))

  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    world,
    faults,
    streams,
    requests,
    inFlight: () => inFlight,
    answering: () => inFlight - heldBack,
    close: async () => {
      for (const timeout of waiting) clearTimeout(timeout)
      streams.destroyAll()
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

const partsOf = (request: IncomingMessage) => {
  const url = new URL(request.url ?? '/', 'http://venue')
  return { path: url.pathname.slice(1), query: url.searchParams }
}

const answer = (world: World, response: ServerResponse, path: string, query: URLSearchParams): void => {
  const route = MARKET_ROUTES.find((candidate) => candidate.path === path)
  if (route === undefined) {
    send(response, 404, { code: -1, msg: `nothing at ${path}` })
    return
  }
  try {
    send(response, 200, route.answer(world, query))
  } catch (error) {
    if (!(error instanceof VenueRefusal)) throw error
    send(response, 400, { code: error.code, msg: error.message })
  }
}

const misbehave = (response: ServerResponse, fault: Exclude<Fault, { readonly kind: 'slow' }>): void => {
  switch (fault.kind) {
    case 'drop':
      response.socket?.destroy()
      return
    case 'status':
      if (fault.retryAfterSeconds !== undefined) response.setHeader('Retry-After', fault.retryAfterSeconds)
      response.writeHead(fault.status).end('<html>no</html>')
      return
    case 'trickle':
      response.writeHead(200, { 'Content-Type': 'application/json' }).write('[[1')
      return
    case 'garbage':
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>back soon</html>')
  }
}

const send = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}
