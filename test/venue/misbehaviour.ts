import type { ServerResponse } from 'node:http'
import type { Answer } from './answer.ts'
import type { Fault } from './faults.ts'

export const send = (response: ServerResponse, { status, body }: Answer): void => {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}

/** Instead of an answer. False where the fault lets the venue look at the request. */
export const misbehave = (response: ServerResponse, fault: Fault | null): boolean => {
  switch (fault?.kind) {
    case 'drop':
      response.socket?.destroy()
      return true
    case 'status':
      leaveAlone(response, fault.retryAfterSeconds)
      response.writeHead(fault.status).end('<html>no</html>')
      return true
    case 'refuse':
      leaveAlone(response, fault.retryAfterSeconds)
      send(response, { status: fault.status, body: { code: fault.code, msg: fault.message } })
      return true
    case 'trickle':
      response.writeHead(200, { 'Content-Type': 'application/json' }).write('[[1')
      return true
    case 'garbage':
      sendGarbage(response)
      return true
    default:
      return false
  }
}

/** The answer, or what becomes of it on the way. */
export const sendAmiss = (response: ServerResponse, answer: Answer, fault: Fault | null): void => {
  switch (fault?.kind) {
    case 'done_then_drop':
      response.socket?.destroy()
      return
    case 'done_then_status':
      send(response, {
        status: fault.status,
        body: {
          code: fault.code ?? -1000,
          msg: 'Unknown error, please check your request or try again later.',
        },
      })
      return
    case 'done_then_garbage':
      sendGarbage(response)
      return
    case 'done_then_wrong_precision':
      send(response, { ...answer, body: overprecise(answer.body) })
      return
    default:
      send(response, answer)
  }
}

const leaveAlone = (response: ServerResponse, retryAfterSeconds: number | undefined): void => {
  if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', retryAfterSeconds)
}

const sendGarbage = (response: ServerResponse): void => {
  response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>back soon</html>')
}

const overprecise = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body), (_, value: unknown) =>
    typeof value === 'string' && /^\d+\.\d{8}$/.test(value) ? `${value}000000001` : value,
  )
