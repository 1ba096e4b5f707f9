import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { startTestServer, TOKEN, type TestServer } from '../../src/surfaces/http/test-server.fixture.ts'
import { appendTo } from '../../test/records.fixture.ts'
import { loopDelayP99Ms, quantile, type BenchRow } from '../harness.ts'
import { startBareStream } from './bare-stream.ts'
import type { ClientsMessage, ClientsRequest } from './clients-thread.ts'

const CLIENTS = 1_000
const EVENTS_PER_SECOND = 100
const EVENTS_PER_ROUND = 1_000
const IDLE_MS = 2000
const SERVICE = 'service'
const BARE = 'bare'

/** T10: delay from storing an event to its arrival at 1,000 clients, and whether each client receives it once. */
export const benchStream = async (): Promise<readonly BenchRow[]> => {
  const settings = { stream: { buffer_events: 100_000 }, logging: { level: 'ERROR' } }
  const server = await startTestServer({ settings })
  const clients = startClients()
  try {
    await clients.connect(SERVICE, server.port, '/api/v1/events/stream?domain=signal')
    const delays = await measureDelays(SERVICE, clients, () => store(server))
    const { fewest, most } = await clients.report(SERVICE)
    const bare = await bareDelays(clients)
    const stored = ROUNDS * EVENTS_PER_ROUND
    return [
      delayRow('T10 p99', delays.remote, 'clients that leave the processor to the server', '<= 50'),
      delayRow('T10 here', delays.local, 'clients that read at once, beside the server', ''),
      delayRow('T10 bare', bare.remote, 'a bare loop of socket writes, instead of the server', ''),
      {
        id: 'T10 loop',
        what: "the server's event-loop delay p99 meanwhile",
        value: delays.loopRatio,
        target: '<= 8',
        baseline: 'its idle loop',
      },
      {
        id: 'T10 missed',
        what: 'events that a client missed or received twice',
        value: Math.max(stored - fewest, most - stored),
        target: '0',
        baseline: 'none',
      },
    ]
  } finally {
    await clients.close()
    await server.close()
  }
}

const delayRow = (id: string, latenciesMs: Float64Array, clients: string, target: string): BenchRow => ({
  id,
  what: `ms from storing to arrival at ${EVENTS_PER_SECOND} events/s, ${CLIENTS} clients, p99`,
  value: quantile(latenciesMs, 0.99),
  target,
  baseline: `none; p50 ${quantile(latenciesMs, 0.5).toFixed(1)} ms; ${clients}`,
})

interface Delays {
  /** Delays of clients that stand for clients on other machines. */
  readonly remote: Float64Array
  /** Delays of clients that occupy one of the two cores of a small machine. */
  readonly local: Float64Array
  /** Event-loop delay while remote clients are served, divided by that of the idle loop. */
  readonly loopRatio: number
}

/** A warm-up, and one round for each kind of client. */
const ROUNDS = 3

const measureDelays = async (
  group: string,
  clients: Clients,
  publish: () => Promise<void>,
): Promise<Delays> => {
  const measure = async (): Promise<Float64Array> => {
    const received = clients.received(group, EVENTS_PER_ROUND)
    const beganMs = performance.now()
    for (let count = 0; count < EVENTS_PER_ROUND; count += 1) {
      const dueMs = beganMs + (count * 1_000) / EVENTS_PER_SECOND
      await sleep(Math.max(0, dueMs - performance.now()))
      await publish()
    }
    await received
    return (await clients.report(group)).latenciesMs
  }
  await measure()
  const local = await measure()
  clients.rest(group, true)
  const idleMs = await loopDelayP99Ms(() => sleep(IDLE_MS))
  let remote = local
  const busyMs = await loopDelayP99Ms(async () => {
    remote = await measure()
  })
  clients.rest(group, false)
  return { remote, local, loopRatio: busyMs / idleMs }
}

/** Delays of the bare writes on this machine. */
const bareDelays = async (clients: Clients): Promise<Delays> => {
  const bare = await startBareStream()
  try {
    await clients.connect(BARE, bare.port, '/')
    return await measureDelays(BARE, clients, () => Promise.resolve(bare.publish(signalPayload(0))))
  } finally {
    await bare.close()
  }
}

interface Clients {
  connect(group: string, port: number, path: string): Promise<void>
  /** Resolves when each client of the group has received this many more events. */
  received(group: string, events: number): Promise<void>
  /** Sets whether clients that are not timed read only from time to time. */
  rest(group: string, isResting: boolean): void
  report(group: string): Promise<Extract<ClientsMessage, { kind: 'report' }>>
  close(): Promise<void>
}

const startClients = (): Clients => {
  const thread = new Worker(new URL('clients-thread.ts', import.meta.url))
  const expected = new Map<string, number>()
  const send = (request: ClientsRequest): void => thread.postMessage(request, [])
  const next = <Kind extends ClientsMessage['kind']>(
    kind: Kind,
    group: string,
  ): Promise<Extract<ClientsMessage, { kind: Kind }>> =>
    new Promise((resolve, reject) => {
      const onMessage = (message: ClientsMessage): void => {
        if (message.kind !== kind || message.group !== group) return
        thread.off('message', onMessage)
        thread.off('error', reject)
        resolve(message as Extract<ClientsMessage, { kind: Kind }>)
      }
      thread.on('message', onMessage)
      thread.on('error', reject)
    })
  return {
    connect: async (group, port, path) => {
      const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`
      send({ kind: 'connect', group, port, request, count: CLIENTS })
      await next('connected', group)
    },
    received: async (group, events) => {
      const messages = (expected.get(group) ?? 0) + events * CLIENTS
      expected.set(group, messages)
      send({ kind: 'await', group, messages })
      await next('received', group)
    },
    rest: (group, isResting) => send({ kind: 'rest', group, isResting }),
    report: (group) => {
      send({ kind: 'report', group })
      return next('report', group)
    },
    close: async () => {
      await thread.terminate()
    },
  }
}

/** Appends an event as another process would. The engine folds the event and publishes it. */
const store = async ({ log }: TestServer): Promise<void> => {
  await appendTo(log, 1, (seq) => ({
    type: 'signal.ta.rsi.v1',
    source: 'producer:technical-analysis',
    payload: signalPayload(seq),
  }))
}

const signalPayload = (seq: number) => ({
  conviction: (seq % 100) / 10,
  direction: 'long',
  indicator: 'rsi',
  rationale: 'RSI crossed the lower band on the four hour chart and turned up with rising volume',
  sent_ns: process.hrtime.bigint().toString().padStart(20, '0'),
  symbol: 'BTC',
  timeframe: '4h',
  value: 31.25,
})
