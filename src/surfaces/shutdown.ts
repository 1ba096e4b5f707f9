import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { urlHost } from './own-host.ts'

export interface ShutdownLimits {
  /** How long a shutdown waits for requests and responses under way. */
  readonly closeTimeoutMs: number
  /** How long it waits for the rest of a request. */
  readonly restTimeoutMs: number
}

/** Connections that wait to be taken in: with fewer, those of thousands that come at once begin anew after a second. */
export const BACKLOG = 4096

/** A connection that falls idle from now on would be kept open for its next request. */
const IDLE_CHECK_MS = 20

/**
 * How a server ends: requests that are complete are worked on. Connections that are idle are closed, and those on which a
 * request is only half there are cut: nothing of it has happened, and a client that holds the rest back would delay the
 * end. `close` resolves once no connection is left.
 */
export const shutdownOf = (
  server: Server,
  { closeTimeoutMs, restTimeoutMs }: ShutdownLimits,
): ((close: () => Promise<unknown>) => Promise<void>) => {
  const connections = new Set<Socket>()
  const requests = new Set<IncomingMessage>()
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    requests.add(request)
    response.once('close', () => requests.delete(request))
  })
  const cutHalfRequests = (): void => {
    const isWhole = new Set([...requests].filter(({ complete }) => complete).map(({ socket }) => socket))
    for (const socket of connections) if (!isWhole.has(socket)) socket.destroy()
  }
  return async (close) => {
    const reap = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS)
    const cut = setInterval(cutHalfRequests, restTimeoutMs)
    const force = setTimeout(() => server.closeAllConnections(), closeTimeoutMs)
    try {
      await close()
    } finally {
      clearInterval(reap)
      clearInterval(cut)
      clearTimeout(force)
    }
  }
}

export const urlOf = (server: Server): { readonly port: number; readonly url: string } => {
  const { address, port } = server.address() as AddressInfo
  return { port, url: `http://${urlHost(address)}:${port}` }
}
