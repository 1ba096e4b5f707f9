import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createSystemTimer } from '../../src/adapters/platform/timer/system-timer.ts'
import type { Timer } from '../../src/ports/timer.ts'
import { createFaults, type Fault, type Faults } from './faults.ts'
import { BINANCE_WIRE, type ExchangeRequest, type Wire } from './requests.ts'
import { controlOf } from './control.ts'
import { failInstead, send, sendWithFault } from './faults.ts'
import { createStreams, type Streams } from './streams.ts'
import { acceptSocket } from './web-socket.ts'
import { createExchangeState, type ExchangeState } from './exchange-state.ts'

/** A local exchange with the protocol of a real one. Faults can be added to it. */
export interface ExchangeServer {
  /** Prefix of the hosts of the real venue: `<baseUrl>/api.binance.com/api/v3/time`. */
  readonly baseUrl: string
  readonly world: ExchangeState
  readonly faults: Faults
  readonly streams: Streams
  /** Host and path of every request with its query and body, in order. */
  readonly requests: string[]
  /** Headers of every request, in the same order. */
  readonly headers: Readonly<Record<string, string>>[]
  /** Number of requests without a response yet. */
  inFlight(): number
  /** Number of these requests that no fault delays. */
  answering(): number
  /** Processes all requests that a fault delays. */
  release(): void
  close(): Promise<void>
}

export interface ExchangeServerOptions {
  readonly now: () => number
  /** Zero for any free port. */
  readonly port?: number
  readonly perpetuals?: readonly string[]
  /** Timer of delays. Default: the timers of the machine. */
  readonly timer?: Pick<Timer, 'wait'>
  /** Protocol of the server. Default: Binance. */
  readonly wire?: Wire
}

export const startExchangeServer = async ({
  now,
  port = 0,
  perpetuals,
  timer = createSystemTimer(),
  wire = BINANCE_WIRE,
}: ExchangeServerOptions): Promise<ExchangeServer> => {
  const world = createExchangeState(now, perpetuals, wire.specs)
  wire.prepare?.(world)
  const faults = createFaults()
  const streams = createStreams(world)
  const requests: string[] = []
  const headers: Readonly<Record<string, string>>[] = []
  const waiting = new Map<AbortController, () => void>()
  let inFlight = 0
  let heldBack = 0

  const later = (waitMs: number, act: () => void): void => {
    const ended = new AbortController()
    waiting.set(ended, act)
    const end = (): void => {
      if (waiting.delete(ended)) act()
    }
    // The wait never rejects.
    void timer.wait(waitMs, ended.signal).then(end, end)
  }

  const answer = (response: ServerResponse, request: ExchangeRequest, fault: Fault | null): void => {
    const reported = wire.respond(world, request, fault)
    if (fault?.kind === 'done_then_slow') later(fault.waitMs, () => send(response, reported))
    else sendWithFault(response, reported, fault, wire)
  }

  const receive = (response: ServerResponse, request: ExchangeRequest): void => {
    if (request.path.startsWith('control/')) {
      send(response, controlOf({ world, faults }, request))
      return
    }
    requests.push(`${request.path}?${request.query}${request.body}`)
    headers.push(request.headers)
    const fault = faults.take(`${request.method} ${request.path}`)
    if (fault !== null && HELD_BACK.has(fault.kind)) {
      heldBack += 1
      response.on('close', () => (heldBack -= 1))
    }
    if (fault?.kind === 'slow') later(fault.waitMs, () => answer(response, request, null))
    else if (fault?.kind === 'drop_then_done') {
      response.socket?.destroy()
      later(fault.waitMs, () => wire.respond(world, request, null))
    } else if (!failInstead(response, fault, wire)) answer(response, request, fault)
  }

  const server = createServer((request, response) => {
    inFlight += 1
    response.on('close', () => (inFlight -= 1))
    if (request.method === 'POST' || request.method === 'PUT')
      withBody(request, (body) => receive(response, { ...requestOf(request), body }))
    else receive(response, requestOf(request))
  })
  server.on('upgrade', (request, stream) => {
    const socket = acceptSocket(request, stream, {
      onText: (text) => streams.receive(socket, text),
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
    headers,
    inFlight: () => inFlight,
    answering: () => inFlight - heldBack,
    release: () => {
      const held = [...waiting]
      waiting.clear()
      for (const [ended, act] of held) {
        ended.abort()
        act()
      }
    },
    close: async () => {
      for (const ended of waiting.keys()) ended.abort()
      waiting.clear()
      streams.destroyAll()
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

const HELD_BACK: ReadonlySet<Fault['kind']> = new Set(['slow', 'trickle', 'done_then_slow'])

const requestOf = (request: IncomingMessage): ExchangeRequest => {
  const [path = '', query = ''] = (request.url ?? '/').slice(1).split('?', 2)
  const headers = Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as const] : [],
    ),
  )
  return {
    method: request.method ?? 'GET',
    path,
    query,
    body: '',
    apiKey: headers['x-mbx-apikey'] ?? '',
    headers,
  }
}

const withBody = (request: IncomingMessage, use: (body: string) => void): void => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => use(Buffer.concat(chunks).toString()))
}
