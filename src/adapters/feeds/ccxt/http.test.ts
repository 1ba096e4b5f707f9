import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, it } from 'vitest'
import { createManualTimer } from '../../../ports/manual-timer.fixture.ts'
import { createFetch } from './http.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

const ask = async (listener: RequestListener): Promise<Response> => {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const ways = {
    signal: new AbortController().signal,
    timer: createManualTimer(0),
    timeoutMs: 1000,
    onRetryAfter: () => undefined,
  }
  return createFetch(ways)(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {})
}

it('hands over status, headers and text', async () => {
  const response = await ask((_, answer) => answer.writeHead(404, { 'X-Weight': '7' }).end('gone'))
  expect([response.status, response.headers.get('x-weight'), await response.text()]).toEqual([
    404,
    '7',
    'gone',
  ])
})

it('follows nobody elsewhere', async () => {
  await expect(ask((_, answer) => answer.writeHead(302, { Location: '/' }).end())).rejects.toThrow(
    'fetch failed',
  )
})

it('does not read without end', async () => {
  const bytes = gzipSync(Buffer.alloc(65 * 1024 * 1024, '['))
  const answered = ask((_, answer) => answer.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bytes))
  await expect(answered).rejects.toThrow('too long')
})

it('takes no page for data', async () => {
  await expect(ask((_, answer) => answer.end('<html></html>'))).rejects.toThrow('no data')
  await expect(ask((_, answer) => answer.end())).rejects.toThrow('no data')
})
