import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { TOKEN } from '../../src/surfaces/http/test-server.fixture.ts'
import { quantile } from '../harness.ts'
import type { LoadAsk, LoadReport } from './load-thread.ts'

export interface Loaded {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface Load {
  send(ask: LoadAsk): Promise<Loaded>
  close(): Promise<void>
}

/** Plays the clients in a thread of its own: what they cost is no part of what the server's loop does. */
export const startLoad = (): Load => {
  const thread = new Worker(new URL('load-thread.ts', import.meta.url))
  return {
    send: async (ask) => {
      const answered = once(thread, 'message')
      thread.postMessage(ask, [])
      const [reported] = (await answered) as [LoadReport]
      if (reported.status === 'failed') throw new Error(reported.detail)
      const { elapsedMs, latenciesMs } = reported
      return {
        perSecond: (latenciesMs.length * 1000) / elapsedMs,
        p50Ms: quantile(latenciesMs, 0.5),
        p99Ms: quantile(latenciesMs, 0.99),
      }
    },
    close: async () => {
      await thread.terminate()
    },
  }
}

/** `path` is below the prefix. */
export const getRequest = (path: string): string => requestOf('GET', path, '')

export const postRequest = (path: string, body: object): string =>
  requestOf('POST', path, JSON.stringify(body))

const requestOf = (method: string, path: string, body: string): string =>
  [
    `${method} /api/v1${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${TOKEN}`,
    ...(body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
    '',
    body,
  ].join('\r\n')
