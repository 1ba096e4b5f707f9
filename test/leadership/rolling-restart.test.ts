import { createServer, request as httpRequest, Agent } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { newHome, startProcess, TOKEN, type ServiceProcess } from '../interface/service.ts'
import { isFull } from '../generated.fixture.ts'
import { onEveryStore, onPostgres } from '../interface/stores.ts'
import { readinessOf, until } from './leading.fixture.ts'

const WORDS = { words: ['serve', '--no-dashboard'] }
const CLIENTS = 8
/** Time limit of a request. A longer request counts as failed. */
const ANSWER_MS = 60_000

// PostgreSQL is the store for processes that take over from each other.
const onStores = isFull ? onEveryStore : onPostgres

onStores('a rolling restart of three processes behind a proxy', (store) => {
  it('fails no request under constant load, and streams say goodbye', async () => {
    const home = await newHome()
    const variables = { ...(await store()), SVC_DEV_MODE: '1', SVC_API__DRAIN_SECONDS: '3' }
    const started = (): Promise<ServiceProcess> => startProcess(home, variables, WORDS)
    const proxy = await startProxy()
    const services = [await started(), await started(), await started()]
    for (const service of services) proxy.add(service)
    await until(() => proxy.readyCount() === 3)

    const load = startLoad(proxy.url)
    const stream = await openStream(services[0]!)
    for (const service of services.slice(0, 3)) {
      const stopped = service.stop('SIGTERM')
      await until(() => proxy.readyCount() === 2)
      expect(await readinessOf(service)).toMatchObject({ reasons: ['draining'] })
      expect(await stopped).toBe(0)
      const next = await started()
      proxy.remove(service)
      proxy.add(next)
      services.push(next)
      await until(() => proxy.readyCount() === 3)
    }
    const { answered, failed } = await load.stop()
    expect(failed).toEqual([])
    expect(answered).toBeGreaterThan(100)
    expect(await stream.text).toContain(': the service is stopping\nretry: 1000\n\n')
    proxy.close()
    await Promise.all(services.slice(3).map((service) => service.stop('SIGINT')))
  })
})

/** Reads until the service ends the stream. */
const openStream = async ({ baseUrl }: ServiceProcess): Promise<{ readonly text: Promise<string> }> => {
  const headers = { Authorization: `Bearer ${TOKEN}` }
  const response = await fetch(`${baseUrl}/events/stream`, { headers })
  return { text: response.text() }
}

/** Sends requests to the processes that are ready over persistent connections, as load balancers do. */
const startProxy = async () => {
  const backends = new Map<ServiceProcess, { isReady: boolean; readonly agent: Agent }>()
  let turn = 0
  /** Only an answer or a failed connection changes the state of a process. A slow process is not a missing one. */
  const check = async (service: ServiceProcess, backend: { isReady: boolean }): Promise<void> => {
    while (backends.has(service)) {
      backend.isReady = await fetch(new URL('/ready', service.baseUrl)).then(
        ({ status }) => status === 200,
        () => false,
      )
      await sleep(50)
    }
  }
  const server = createServer((incoming, outgoing) => {
    const ready = [...backends].filter(([, { isReady }]) => isReady)
    turn += 1
    const [service, backend] = ready[turn % ready.length] ?? []
    if (service === undefined || backend === undefined)
      return void outgoing.writeHead(502).end('nobody is ready')
    const { method, headers, url } = incoming
    const forwarded = httpRequest(
      new URL(url ?? '/', service.baseUrl),
      { method: method ?? 'GET', headers, agent: backend.agent },
      (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers)
        // A response that breaks off is a failed request, not an endless one.
        response.on('error', () => outgoing.destroy())
        response.pipe(outgoing)
      },
    )
    // Not retried at another process, because no request may be lost in the first place.
    forwarded.on('error', (error) => outgoing.headersSent || outgoing.writeHead(502).end(error.message))
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (service: ServiceProcess) => {
      const backend = { isReady: false, agent: new Agent({ keepAlive: true }) }
      backends.set(service, backend)
      check(service, backend).catch(() => undefined)
    },
    remove: (service: ServiceProcess) => backends.delete(service),
    readyCount: () => [...backends.values()].filter(({ isReady }) => isReady).length,
    close: () => {
      backends.clear()
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Clients that read and write continuously. */
const startLoad = (url: string) => {
  let isOver = false
  let answered = 0
  const failed: string[] = []
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' }
  const ask = async (index: number): Promise<void> => {
    const isWrite = index % 2 === 0
    const response = isWrite
      ? await fetch(`${url}/api/v1/kill-switch`, {
          method: 'POST',
          headers,
          signal: AbortSignal.timeout(ANSWER_MS),
          body: JSON.stringify({ level: index % 4 === 0 ? 1 : 2, reason: 'a test' }),
        })
      : await fetch(`${url}/api/v1/events?limit=5`, { headers, signal: AbortSignal.timeout(ANSWER_MS) })
    const text = await response.text()
    if (response.status === 200) answered += 1
    else failed.push(`${response.status} ${text.slice(0, 200)}`)
  }
  const client = async (from: number): Promise<void> => {
    for (let index = from; !isOver; index += 1) {
      await ask(index).catch((error: unknown) => failed.push(String(error)))
      await sleep(10)
    }
  }
  const clients = Array.from({ length: CLIENTS }, (_, index) => client(index))
  return {
    stop: async () => {
      isOver = true
      await Promise.all(clients)
      return { answered, failed }
    },
  }
}
