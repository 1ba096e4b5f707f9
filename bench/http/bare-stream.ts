import { createServer, type AddressInfo, type Socket } from 'node:net'

/** The minimum work of any server: sends the same bytes to every connection, one after the other. */
export const startBareStream = async () => {
  const clients = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => clients.delete(socket))
    socket.on('close', () => clients.delete(socket))
    // Clients send an HTTP request, as to any server.
    socket.once('data', () => {
      clients.add(socket)
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    publish: (payload: object): void => {
      const frame = Buffer.from(`id: ${FILLING}\ndata: ${JSON.stringify({ ...payload, FILLING })}\n\n`)
      for (const client of clients) client.write(frame)
    },
    close: async (): Promise<void> => {
      for (const client of clients) client.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Filling of the same length as the parts around the payload in our frames. */
const FILLING = 'x'.repeat(100)
