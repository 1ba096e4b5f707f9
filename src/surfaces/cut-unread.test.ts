import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { cutUnread } from './cut-unread.ts'

it('holds nothing of a client that is gone already', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const [, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
  const gone = once(response, 'close')
  socket.destroy()
  await gone
  const before = response.listenerCount('close')
  cutUnread(response)
  expect(response.listenerCount('close')).toBe(before)
  server.close()
})
