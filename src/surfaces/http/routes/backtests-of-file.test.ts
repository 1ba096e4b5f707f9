import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type Called, type TestServer } from '../test-server.fixture.ts'

let folder: string
let server: TestServer
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-bars-'))
  const bars = join(folder, 'bars.csv')
  const rows = Array.from({ length: 300 }, (_, hour) => {
    const open = new Date(Date.UTC(2024, 0, 1, hour)).toISOString()
    return `${open},BTC,100,101,99,${100 + (hour % 7) / 10},1`
  })
  await writeFile(bars, ['ts,symbol,open,high,low,close,volume', 'no bar', ...rows].join('\n'))
  server = await startTestServer({ settings: { market: { feed: 'file', file: bars } } })
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})

const run = async (symbol: string): Promise<Called> => {
  const { body } = await server.call('POST', '/backtests', { json: { strategy: 'momentum', symbol } })
  const get = () => server.call('GET', `/backtests/${String(body['id'])}`)
  await expect.poll(async () => (await get()).body['status'], { interval: 20 }).toMatch(/done|failed/)
  return get()
}

it('names the file of the bars and not where it lies, in a run that fails', async () => {
  const { body, text } = await run('ETH')
  expect(body).toMatchObject({ status: 'failed', error: { message: 'bars.csv: no bars of ETH' } })
  expect(text).not.toContain(folder)
})

it('names the file of the bars and not where it lies, in a run that leaves lines out', async () => {
  const { body, text } = await run('BTC')
  const leftOut = [expect.stringMatching(/^bars\.csv line 2: /)]
  expect(body).toMatchObject({ status: 'done', result: { left_out: leftOut } })
  expect(text).not.toContain(folder)
})
