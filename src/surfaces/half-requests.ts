import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Cuts, at the end of a server, connections on which a request is only half there: nothing of it has happened, and a client
 * that holds the rest back would delay the end. Requests that are complete are worked on.
 */
export const halfRequestsOf = (server: Server): { cut(): void } => {
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
  return {
    cut: () => {
      const isWhole = new Set([...requests].filter(({ complete }) => complete).map(({ socket }) => socket))
      for (const socket of connections) if (!isWhole.has(socket)) socket.destroy()
    },
  }
}
