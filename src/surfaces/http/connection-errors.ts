import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { PROBLEM_TYPE, problem, problemText, statusOf, titleOf, type Problem } from './problems.ts'

/** Answers connections without a valid request: broken HTTP, endless headers, timeouts. */
export const answerConnectionErrors = (server: Server, newId: () => string): void => {
  const answers = new WeakMap<Duplex, ServerResponse>()
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    answers.set(request.socket, response)
  })
  // An expectation we do not know is not met, but the request itself can be answered.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response)
  })
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => write(socket, NO_TUNNEL, newId()))
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const answer = answers.get(socket)
    const isAnswering = answer !== undefined && answer.headersSent && !answer.writableFinished
    if (isAnswering || error.code === 'ECONNRESET' || !socket.writable) socket.destroy()
    else write(socket, problemOf(error), newId())
  })
}

const NO_TUNNEL = problem('route.method_not_allowed', 'This is not a proxy', {
  headers: { allow: 'GET, HEAD, POST, PUT, DELETE' },
})

const problemOf = ({ code }: NodeJS.ErrnoException): Problem => {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return problem('request.timeout', 'The request did not arrive in time')
    case 'HPE_HEADER_OVERFLOW':
      return problem('request.headers_too_large', 'The request line and headers are too long')
    default:
      return problem('request.malformed_http', 'This is not an HTTP/1.1 request')
  }
}

const write = (socket: Duplex, refusal: Problem, requestId: string): void => {
  const body = problemText(refusal, requestId)
  const headers = {
    'Content-Type': PROBLEM_TYPE,
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': requestId,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    Connection: 'close',
    ...refusal.headers,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const status = `HTTP/1.1 ${statusOf(refusal.code)} ${titleOf(refusal.code)}\r\n`
  socket.end(`${status}${lines.join('')}\r\n${body}`, () => socket.destroy())
}
