import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { holderOf } from '../../caller.ts'
import { authenticate, isValidKey } from '../authenticate.ts'
import { sendProblem, type StreamConnection, type StreamResult } from '../results.ts'
import type { Route, Service } from '../route.ts'

interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly service: Service
}

/** Hands the connection to the stream; the framework has no more to do with it. */
export const openStream = (result: StreamResult, route: Route, exchange: Exchange): FastifyReply => {
  const { request, reply, service } = exchange
  // The client hung up while its start was looked up, and `close` will not be emitted again.
  if (request.raw.socket.destroyed) return reply.hijack()
  // The token may have changed since the request came in.
  const auth = authenticate(request, route, service)
  if (auth.status === 'denied') return sendProblem(reply, auth.problem)
  const refusal = result.open(connectionOf(route, exchange))
  if (refusal !== null) return sendProblem(reply, refusal)
  const { method } = request
  const { elapsedTime: durationMs } = reply
  service.metrics.observe({ method, route: route.url, status: 200, durationMs })
  return reply.hijack()
}

const connectionOf = (route: Route, { request, reply, service }: Exchange): StreamConnection => {
  const { raw: response } = reply
  return {
    response,
    requestId: request.id,
    isChunked: request.raw.httpVersion === '1.1',
    begin: (headers, first) => {
      reply.headers(headers)
      response.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders)
      response.write(first)
    },
    onClosed: (listener) => {
      const { socket } = request.raw
      const closed = (): void => {
        socket.off('close', closed)
        response.off('close', closed)
        listener()
      }
      // A pipelined response that waits for its turn on the connection emits no `close` of its own.
      socket.on('close', closed)
      response.on('close', closed)
      // A write to a connection that just broke; `close` follows.
      response.on('error', () => undefined)
    },
    holder: holderOf(request.caller),
    isKeyed: request.caller.key !== null,
    isAuthorized: () => {
      const { key } = request.caller
      return key === null
        ? authenticate(request, route, service).status === 'admitted'
        : isValidKey(key, service)
    },
  }
}
