import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'
import { afterEach } from 'vitest'
import { pollEndpoint, type PollRules } from './poll-endpoint.ts'

export const ITEM = { type: 'signal.onchain.v1', payload: { symbol: 'BTC', whale_netflow: 1e6 } }
export const BODY = JSON.stringify([ITEM])
export const RULES: PollRules = {
  domain: 'onchain',
  allowPrivateEndpoints: true,
  timeoutMs: 5000,
  futureSkewSecondsMax: 300,
}
export const clock = { now: () => Date.parse('2026-02-20T00:00:00.000Z') }

interface Open {
  readonly server: Server
  readonly sockets: Set<Socket>
}

const open: Open[] = []

afterEach(async () => {
  for (const { server, sockets } of open.splice(0)) {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  }
})

export const listen = async (server: Server, host = '127.0.0.1') => {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket: Socket) => {
    connections += 1
    sockets.add(socket)
    // A poll that is aborted ends here with an error that needs no handling.
    socket.on('error', () => {})
  })
  server.listen(0, host)
  await once(server, 'listening')
  open.push({ server, sockets })
  return { port: (server.address() as AddressInfo).port, connections: () => connections, sockets }
}

export const answering = (listener: RequestListener, host?: string) => listen(createServer(listener), host)

export const poll = async (listener: RequestListener, rules = RULES) => {
  const { port } = await answering(listener)
  return pollEndpoint(`http://127.0.0.1:${port}/signals`, rules, { clock })
}
