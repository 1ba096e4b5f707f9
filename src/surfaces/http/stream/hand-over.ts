import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { OpenLine, Streaming } from '../answers.ts'
import { admit, type Admission } from '../authenticate.ts'
import { accessOf, type Route } from '../route.ts'
import { sendProblem } from '../send.ts'
import type { Service } from '../service.ts'

interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly service: Service
}

/** Gives the connection to whoever wants to write for long; the framework has no more to do with it. */
export const handOver = (answer: Streaming, route: Route, exchange: Exchange): FastifyReply => {
  const { request, reply, service } = exchange
  // Nobody is there any more, and nobody would tell us that again.
  if (request.raw.socket.destroyed) return reply.hijack()
  const admission = admissionOf(route, exchange)
  if (admission.status === 'denied') return sendProblem(reply, admission.problem)
  const refusal = answer.open(lineOf(route, exchange))
  if (refusal !== null) return sendProblem(reply, refusal)
  const { method } = request
  const { elapsedTime: durationMs } = reply
  service.metrics.observe({ method, route: route.url, status: 200, durationMs })
  return reply.hijack()
}

/** As of now: the token may have changed since the request came in. */
const admissionOf = (route: Route, { request, service }: Exchange): Admission => {
  const configuration = service.configuration.current()
  return admit({
    access: accessOf(route, configuration),
    authorization: request.headers.authorization,
    configuration,
    insecureOk: service.insecureOk,
  })
}

const lineOf = (route: Route, exchange: Exchange): OpenLine => {
  const { request, reply } = exchange
  const { raw: response } = reply
  return {
    response,
    requestId: request.id,
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
      // An answer that still waits for its turn on the connection does not hear of its end.
      socket.on('close', closed)
      response.on('close', closed)
      // What was written to a connection that just broke. It closes, and that is told.
      response.on('error', () => undefined)
    },
    isWelcome: () => admissionOf(route, exchange).status === 'admitted',
  }
}
