import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { appendTo } from '../../../../test/records.fixture.ts'
import type { TestServer } from '../test-server.fixture.ts'
import { clientsOf, streamFixture, untilClients } from './stream.fixture.ts'
import type { TestClient } from './stream-client.fixture.ts'

const { start, open } = streamFixture()

const LARGE = { payload: { text: 'x'.repeat(60_000) } }
/** Number of large events that exceeds the buffers of a connection whose client does not read. */
const MORE_THAN_IS_TAKEN = 150

/** Appends events one by one, each after this client has received the previous one. */
const appendWhile = async (
  server: TestServer,
  client: TestClient,
  goesOn: () => boolean,
): Promise<number> => {
  let count = 0
  for (; goesOn(); count += 1) {
    const [record] = await appendTo(server.log, 1, () => LARGE)
    await client.until(() => client.messages.at(-1)?.id === record?.id)
    // Lets disconnected clients notice it.
    await sleep(0)
  }
  return count
}

describe('a client that stops reading', () => {
  it('is cut when more events wait than may, while others and writers go on', async () => {
    const server = await start({ settings: { stream: { buffer_events: 10 } } })
    const reading = await open(server)
    const sleeping = await open(server)
    sleeping.pause()
    await untilClients(server, 2)
    const lines = (): string => server.logLines.join('')
    const count = await appendWhile(server, reading, () => !lines().includes('it reads too slowly'))
    expect(reading.messages).toHaveLength(count)
    await untilClients(server, 1)
    sleeping.resume()
    expect(await sleeping.ended).toBe('cut')
    expect(sleeping.messages.length).toBeLessThan(count)
    // The client reconnects and misses nothing.
    const again = await open(server, { lastEventId: sleeping.messages.at(-1)?.id ?? '' })
    await again.until(() => again.messages.length >= count - sleeping.messages.length)
    expect([...sleeping.messages, ...again.messages].map(({ id }) => id)).toEqual(
      reading.messages.map(({ id }) => id),
    )
    expect((await server.call('POST', '/kill-switch', { json: { level: 1, reason: 'test' } })).status).toBe(
      200,
    )
  })

  it('is cut only for events that it asked for', async () => {
    const server = await start({ settings: { stream: { buffer_events: 1000 } } })
    const reading = await open(server)
    const sleeping = await open(server, { domain: 'alert' })
    sleeping.pause()
    const append = async (type: string, count: number, payload = {}): Promise<void> => {
      const records = await appendTo(server.log, count, () => ({ type, payload }))
      await reading.until(() => reading.messages.at(-1)?.id === records.at(-1)?.id)
    }
    for (let count = 0; count < MORE_THAN_IS_TAKEN; count += 1) await append('alert.test', 1, LARGE.payload)
    for (let count = 0; count < 20; count += 1) await append('signal.test.v1', 100)
    expect(await clientsOf(server)).toBe(2)
    for (let count = 0; count < 10; count += 1) await append('alert.test', 100)
    await untilClients(server, 1)
    expect(server.logLines.join('')).toContain('it reads too slowly')
  })

  it('may take its time with the past', async () => {
    const server = await start({
      settings: { stream: { buffer_events: 10 } },
      streamLimits: { recentEventsMax: 20 },
    })
    const old = await appendTo(server.log, MORE_THAN_IS_TAKEN, () => LARGE)
    const reading = await open(server)
    const slow = await open(server, { since: old[0]?.id ?? '' })
    slow.pause()
    let left = 50
    const count = await appendWhile(server, reading, () => (left -= 1) > 0)
    expect(await clientsOf(server)).toBe(2)
    slow.resume()
    await slow.until(() => slow.messages.length >= old.length + count)
    expect(slow.messages.map(({ id }) => id)).toEqual([
      ...old.map(({ id }) => id),
      ...reading.messages.map(({ id }) => id),
    ])
  })

  it('is cut when it takes nothing for too long', async () => {
    const server = await start({
      settings: { stream: { buffer_events: 100_000 } },
      streamLimits: { stuckMsMax: 100, checkMs: 10 },
    })
    const reading = await open(server)
    const stuck = await open(server)
    stuck.pause()
    const lines = (): string => server.logLines.join('')
    await appendWhile(server, reading, () => !lines().includes('it took nothing for too long'))
    await expect(untilClients(server, 1)).resolves.toBeUndefined()
  })

  it('is cut by a shutdown, which does not wait for it', async () => {
    // Longer than the time limit of a test: nothing may wait for the forced end.
    const server = await start({
      limits: { closeTimeoutMs: 120_000 },
      settings: { stream: { buffer_events: 100_000 } },
    })
    const reading = await open(server)
    const sleeping = await open(server)
    sleeping.pause()
    let left = MORE_THAN_IS_TAKEN
    await appendWhile(server, reading, () => (left -= 1) > 0)
    await server.server.close()
    sleeping.resume()
    expect([await reading.ended, await sleeping.ended]).toEqual(['ended', 'cut'])
  })
})
