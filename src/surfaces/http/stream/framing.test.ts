import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { appendTo } from '../../../../test/records.fixture.ts'
import { TOKEN, type TestServer } from '../test-server.fixture.ts'
import { streamFixture, untilClients } from './stream.fixture.ts'

const { start } = streamFixture()

/** The bytes of an answer to a raw request, up to the end of the second event. */
const twoEvents = async (server: TestServer, requests: string): Promise<string> => {
  const socket = connect(server.port, '127.0.0.1')
  let text = ''
  socket.setEncoding('utf8').on('data', (piece) => (text += piece))
  socket.write(requests)
  await untilClients(server, 1)
  await appendTo(server.log, 1)
  while (!/data: .*\n\n/.test(text)) await new Promise((resolve) => socket.once('data', resolve))
  await appendTo(server.log, 1)
  while (!/data: .*\n\n[^]*data: .*\n\n/.test(text))
    await new Promise((resolve) => socket.once('data', resolve))
  socket.destroy()
  return text.slice(text.lastIndexOf('HTTP/1.1'))
}

const request = (path: string, version: string): string =>
  `GET /api/v1${path} HTTP/${version}\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`

const bodyOf = (answer: string): string => answer.slice(answer.indexOf('\r\n\r\n') + 4)

const unchunked = (body: string): string => {
  const end = body.indexOf('\r\n')
  if (end === -1) return ''
  const length = Number.parseInt(body.slice(0, end), 16)
  const bytes = Buffer.from(body.slice(end + 2))
  return bytes.toString('utf8', 0, length) + unchunked(bytes.toString('utf8', length + 2))
}

it('tells HTTP/1.1 in chunks', async () => {
  const answer = await twoEvents(await start(), request('/events/stream', '1.1'))
  expect(answer).toMatch(/\r\ntransfer-encoding: chunked\r\n/i)
  expect(unchunked(bodyOf(answer))).toMatch(/^retry: 2000\n\nid: .*\ndata: .*\n\nid: .*\ndata: .*\n\n$/)
})

it('tells HTTP/1.0 without', async () => {
  const answer = await twoEvents(await start(), request('/events/stream', '1.0'))
  expect(answer).not.toMatch(/transfer-encoding/i)
  expect(bodyOf(answer)).toMatch(/^retry: 2000\n\nid: .*\ndata: .*\n\nid: .*\ndata: .*\n\n$/)
})

it('waits for its turn on a connection that asks for more than one thing', async () => {
  const answer = await twoEvents(
    await start(),
    request('/brain/status', '1.1') + request('/events/stream', '1.1'),
  )
  expect(unchunked(bodyOf(answer))).toMatch(/^retry: 2000\n\nid: .*\ndata: .*\n\nid: .*\ndata: .*\n\n$/)
})
