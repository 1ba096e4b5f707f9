import { connect, type Socket } from 'node:net'
import { parentPort } from 'node:worker_threads'

/** Requests over connections that stay open; each sends its next one when it has the whole answer, as clients do. */
export interface LoadAsk {
  readonly port: number
  readonly connections: number
  /** Whole requests in the bytes of HTTP/1.1, sent in turn. */
  readonly requests: readonly string[]
  readonly end: LoadEnd
}

export type LoadEnd =
  | { readonly after: 'requests'; readonly count: number }
  | { readonly after: 'milliseconds'; readonly count: number }

export type LoadReport =
  | { readonly status: 'done'; readonly elapsedMs: number; readonly latenciesMs: Float64Array }
  | { readonly status: 'failed'; readonly detail: string }

const port = parentPort
if (port === null) throw new Error('this runs as a thread')

const END_OF_HEAD = Buffer.from('\r\n\r\n')
const STATUS_AT = 'HTTP/1.1 '.length
const SUCCESS_CLASS = '2'.charCodeAt(0)

const load = async ({ port: to, connections, requests, end }: LoadAsk): Promise<LoadReport> => {
  const sockets = await Promise.all(Array.from({ length: connections }, () => connected(to)))
  const encoded = requests.map((request) => Buffer.from(request))
  const latenciesMs: number[] = []
  const beganMs = performance.now()
  let sent = 0
  const next = (): Buffer | null => {
    const isOver = end.after === 'requests' ? sent >= end.count : performance.now() - beganMs >= end.count
    return isOver ? null : (encoded[sent++ % encoded.length] ?? null)
  }
  await Promise.all(sockets.map((socket) => askOneByOne(socket, next, latenciesMs)))
  const elapsedMs = performance.now() - beganMs
  for (const socket of sockets) socket.destroy()
  return { status: 'done', elapsedMs, latenciesMs: Float64Array.from(latenciesMs) }
}

const connected = (to: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port: to, host: '127.0.0.1', noDelay: true }, () => resolve(socket))
    socket.on('error', reject)
  })

const askOneByOne = (socket: Socket, next: () => Buffer | null, latenciesMs: number[]): Promise<void> =>
  new Promise((resolve, reject) => {
    let sentMs = 0
    const ask = (): void => {
      const request = next()
      if (request === null) return resolve()
      sentMs = performance.now()
      socket.write(request)
    }
    const onAnswer = (): void => {
      latenciesMs.push(performance.now() - sentMs)
      ask()
    }
    socket.on('data', answerReader(onAnswer, reject))
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server closed a connection')))
    ask()
  })

/** Reads only where an answer ends and whether it is a success, so that clients cost little. */
const answerReader = (onAnswer: () => void, onFault: (fault: Error) => void): ((bytes: Buffer) => void) => {
  let head: Buffer | null = null
  let bodyBytesLeft = 0
  return (bytes) => {
    if (bodyBytesLeft > 0) {
      bodyBytesLeft -= bytes.length
    } else {
      const begun = head === null ? bytes : Buffer.concat([head, bytes])
      const end = begun.indexOf(END_OF_HEAD)
      head = end === -1 ? begun : null
      if (end === -1) return
      if (begun[STATUS_AT] !== SUCCESS_CLASS) return onFault(new Error(`answered with ${begun.toString()}`))
      const length = /content-length: (\d+)/i.exec(begun.toString('latin1', 0, end))?.[1]
      if (length === undefined) return onFault(new Error('an answer does not say how long it is'))
      bodyBytesLeft = Number(length) - (begun.length - end - END_OF_HEAD.length)
    }
    if (bodyBytesLeft === 0) onAnswer()
  }
}

port.on('message', (ask: LoadAsk) => {
  load(ask)
    .catch((error: unknown): LoadReport => ({ status: 'failed', detail: String(error) }))
    .then((reported) => port.postMessage(reported, []))
    .catch((error: unknown) => {
      throw error
    })
})
