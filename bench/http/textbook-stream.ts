import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Engine } from '../../src/engine/engine.ts'

/** What one would write first: each event is made into text for each client, and written at once. */
export const startTextbookStream = async (engine: Engine) => {
  const clients = new Set<ServerResponse>()
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('retry: 2000\n\n')
    clients.add(response)
    response.on('close', () => clients.delete(response))
  })
  const stop = engine.eventBus.subscribe(({ events }) => {
    for (const { id, type, ts, source, payload } of events) {
      for (const client of clients) {
        client.write(`id: ${id}\ndata: ${JSON.stringify({ id, type, ts, source, payload })}\n\n`)
      }
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: async (): Promise<void> => {
      stop()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
