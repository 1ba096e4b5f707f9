import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach } from 'vitest'
import { startTestServer, type TestServer, type TestServerOptions } from '../test-server.fixture.ts'
import { listen, type Listener, type ListenOptions } from './stream-client.fixture.ts'

/** Servers and listeners that end with the test that began them. */
export const streamFixture = () => {
  const servers: TestServer[] = []
  const listeners: Listener[] = []
  afterEach(async () => {
    for (const listener of listeners.splice(0)) listener.close()
    for (const server of servers.splice(0)) await server.close()
  })
  return {
    start: async (options: TestServerOptions = {}): Promise<TestServer> => {
      const server = await startTestServer(options)
      servers.push(server)
      return server
    },
    open: async (server: TestServer, options: ListenOptions = {}): Promise<Listener> => {
      const listener = await listen(server, options)
      listeners.push(listener)
      return listener
    },
  }
}

/** How many clients the server says it has. */
export const clientsOf = async (server: TestServer): Promise<number> => {
  const { text } = await server.callRoot('GET', '/metrics')
  return Number(/^svc_stream_clients (\d+)$/m.exec(text)?.[1])
}

export const untilClients = async (server: TestServer, count: number): Promise<void> => {
  while ((await clientsOf(server)) !== count) await sleep(1)
}
