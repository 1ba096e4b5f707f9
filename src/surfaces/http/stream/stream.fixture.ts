import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach } from 'vitest'
import { startTestServer, type TestServer, type TestServerOptions } from '../test-server.fixture.ts'
import { connectClient, type ConnectOptions, type TestClient } from './stream-client.fixture.ts'

/** Servers and clients that are closed after each test. */
export const streamFixture = () => {
  const servers: TestServer[] = []
  const clients: TestClient[] = []
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close()
    for (const server of servers.splice(0)) await server.close()
  })
  return {
    start: async (options: TestServerOptions = {}): Promise<TestServer> => {
      const server = await startTestServer(options)
      servers.push(server)
      return server
    },
    open: async (server: TestServer, options: ConnectOptions = {}): Promise<TestClient> => {
      const client = await connectClient(server, options)
      clients.push(client)
      return client
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

/** How many events a chunk holds. */
export const eventsIn = (bytes: Buffer): number => bytes.toString().match(/^id: /gm)?.length ?? 0
