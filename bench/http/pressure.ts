import { once } from 'node:events'
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { BenchRow } from '../harness.ts'
import { getRequest, postRequest, startLoad } from './load.ts'
import { serve } from './served.ts'

const BODIES_AT_ONCE = 20
const BODY_ROUNDS = 1
const STREAMS = 2_500
const STORED_SIGNALS = 2_000
const STREAM_WAIT_MS = 20_000

/** How long one service keeps probes waiting while clients send large bodies and open many streams. */
export const benchPressure = async (): Promise<readonly BenchRow[]> => {
  const home = await mkdtemp(join(tmpdir(), 'svc-pressure-'))
  await mkdir(join(home, 'config'))
  await writeFile(join(home, 'config/user.yaml'), 'logging:\n  level: ERROR\n')
  const server = await serve('service', home)
  const load = startLoad()
  try {
    const signals = Array.from({ length: STORED_SIGNALS }, (_, index) =>
      postRequest('/signals/submit', { ...SIGNAL, payload: { ...SIGNAL.payload, rationale: `r${index}` } }),
    )
    await load.send({
      port: server.port,
      connections: 1,
      requests: [postRequest('/contributors/register', { node_id: 'ann', name: 'Ann', role: 'curator' })],
      end: { after: 'requests', count: 1 },
    })
    await load.send({
      port: server.port,
      connections: 32,
      requests: signals,
      end: { after: 'requests', count: signals.length },
    })
    const { id: first } = await firstEvent(server.port)
    const idle = await probing(server.port, () => sleep(2000))
    const rows: BenchRow[] = [probeRow('L idle', 'nothing else', idle.slowest, '')]
    for (const [name, body] of Object.entries(bodies())) {
      const { slowest, result } = await probing(server.port, () => sendBodies(server.port, body))
      rows.push(
        probeRow(`L ${name}`, `${BODIES_AT_ONCE} bodies of 1 MB (${name}) at once`, slowest, '<= 100'),
      )
      rows.push({
        id: `L ${name} body`,
        what: 'slowest answer to such a body, ms',
        value: result,
        target: '<= 2000',
        baseline: 'none',
      })
    }
    const { slowest, result: answered } = await probing(server.port, () => openStreams(server.port, first))
    rows.push(probeRow('L streams', `${STREAMS} resuming streams that open at once`, slowest, '<= 100'))
    rows.push(
      {
        id: 'L streams ms',
        what: 'until the last stream has its headers, ms',
        value: answered.lastMs,
        target: '<= 3000',
        baseline: 'none',
      },
      {
        id: 'L streams 3 s',
        what: `streams of ${STREAMS} with an answer after 3 s`,
        value: answered.after3s,
        target: `${STREAMS}`,
        baseline: 'none',
      },
      {
        id: 'L resets',
        what: 'connections that the service reset',
        value: answered.resets,
        target: '0',
        baseline: 'none',
      },
      {
        id: 'L history',
        what: 'slowest of 20 GET /portfolio/history at once, ms',
        value: await history(server.port),
        target: '<= 2000',
        baseline: 'none',
      },
    )
    return rows
  } finally {
    await load.close()
    await server.close()
    await rm(home, { recursive: true, force: true })
  }
}

const SIGNAL = {
  event_type: 'signal.curator.v1',
  node_id: 'ann',
  payload: { symbol: 'BTC', direction: 'bullish', conviction: 7 },
}

/** Bodies of about 1 MB that take the server different work. */
const bodies = (): Readonly<Record<string, string>> => ({
  text: postRequest('/signals/submit', { ...SIGNAL, payload: { rationale: 'x'.repeat(1_000_000) } }),
  members: postRequest('/signals/submit', {
    ...SIGNAL,
    payload: Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`m${index}`, index * 10])),
  }),
  lists: postRequest('/signals/submit', {
    ...SIGNAL,
    payload: { list: Array.from({ length: 95_000 }, (_, index) => index * 10) },
  }),
})

interface Probed<Result> {
  readonly slowest: number
  readonly result: Result
}

/**
 * The slowest probe while the work is done: `GET /health` and a kill switch that stays at its level. They are sent from a
 * thread of their own: the loop that plays the clients is busy itself.
 */
const probing = async <Result>(port: number, work: () => Promise<Result>): Promise<Probed<Result>> => {
  const requests = [getRequest('/health'), postRequest('/kill-switch', { level: 1, reason: 'bench' })]
  const thread = new Worker(new URL('probe-thread.ts', import.meta.url), { workerData: { port, requests } })
  await once(thread, 'message')
  const result = await work()
  const answered = once(thread, 'message')
  thread.postMessage('stop', [])
  const [[health = 0, killSwitch = 0]] = (await answered) as [readonly number[]]
  await thread.terminate()
  process.stdout.write(`  health ${health.toFixed(0)} ms, kill switch ${killSwitch.toFixed(0)} ms\n`)
  return { slowest: Math.max(health, killSwitch), result }
}

const probeRow = (id: string, meanwhile: string, value: number, target: string): BenchRow => ({
  id,
  what: `slowest GET /health or POST /kill-switch, ms: ${meanwhile}`,
  value,
  target,
  baseline: 'none',
})

const opened = (port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })

/** Resolves with the first bytes of the answer. */
const answerTo = (socket: Socket, request: string): Promise<string> =>
  new Promise((resolve, reject) => {
    socket.once('data', (bytes: Buffer) => {
      socket.off('close', reject)
      resolve(bytes.toString('latin1'))
    })
    socket.once('close', reject)
    socket.write(request)
  })

/** The slowest answer. */
const sendBodies = async (port: number, request: string): Promise<number> => {
  let slowest = 0
  await Promise.all(
    Array.from({ length: BODIES_AT_ONCE }, async () => {
      const socket = await opened(port)
      for (let round = 0; round < BODY_ROUNDS; round += 1) {
        const beganMs = performance.now()
        await answerTo(socket, request)
        slowest = Math.max(slowest, performance.now() - beganMs)
      }
      socket.destroy()
    }),
  )
  return slowest
}

const firstEvent = async (port: number): Promise<{ readonly id: string }> => {
  const socket = await opened(port)
  const text = await answerTo(socket, getRequest('/events?limit=1&order=asc'))
  socket.destroy()
  const [, id = ''] = /"id":"([^"]+)"/.exec(text) ?? []
  return { id }
}

const openStreams = async (port: number, lastEventId: string) => {
  const request = getRequest('/events/stream').replace(
    '\r\n\r\n',
    `\r\nLast-Event-ID: ${lastEventId}\r\n\r\n`,
  )
  const beganMs = performance.now()
  const [times, sockets]: [number[], Socket[]] = [[], []]
  let resets = 0
  const all = Promise.all(
    Array.from(
      { length: STREAMS },
      () =>
        new Promise<void>((resolve) => {
          const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(request))
          sockets.push(socket)
          socket.once('data', () => {
            times.push(performance.now() - beganMs)
            resolve()
          })
          socket.on('data', () => undefined)
          socket.on('error', () => {
            resets += 1
            resolve()
          })
        }),
    ),
  )
  await Promise.race([all, sleep(STREAM_WAIT_MS)])
  for (const socket of sockets) socket.destroy()
  return {
    lastMs: times.length < STREAMS ? Number.POSITIVE_INFINITY : Math.max(...times),
    after3s: times.filter((ms) => ms <= 3000).length,
    resets,
  }
}

/** The slowest answer. */
const history = async (port: number): Promise<number> => {
  const times = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const socket = await opened(port)
      const beganMs = performance.now()
      await answerTo(socket, getRequest('/portfolio/history?hours=720'))
      socket.destroy()
      return performance.now() - beganMs
    }),
  )
  return Math.max(...times)
}
