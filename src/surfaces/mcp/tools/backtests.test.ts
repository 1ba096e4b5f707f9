import { isMainThread } from 'node:worker_threads'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../http/test-server.fixture.ts'
import { callersOf, resultOf } from '../caller.fixture.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

const call = async (name: string, args: object) => {
  const { structuredContent, isError } = resultOf(await callersOf(server).tool(name, args))
  return { ...structuredContent, isError }
}

const SHORT = {
  strategy: 'ma_crossover',
  from: '2026-01-05T00:00:00Z',
  to: '2026-01-05T06:00:00Z',
}

it('refuses what cannot be run, and says why', async () => {
  const wizard = { ...SHORT, strategy: 'wizard' }
  for (const [name, args] of [
    ['run_backtest', wizard],
    ['run_sweep', { ...wizard, set: ['fast=5,10'] }],
  ] as const) {
    expect(await call(name, args)).toMatchObject({
      isError: true,
      error: 'backtest_refused',
      detail: expect.stringContaining('wizard'),
    })
  }
})

it('does not know runs that nobody started, nor one of the other kind', async () => {
  const unknown = { isError: true, error: 'backtest_not_found', id: 'nobody' }
  expect(await call('get_backtest', { id: 'nobody' })).toEqual(unknown)
  expect(await call('get_sweep', { id: 'nobody' })).toEqual(unknown)
  const { id } = (await call('run_backtest', { ...SHORT, wait_seconds: 0 })) as { id?: unknown }
  expect(await call('get_sweep', { id })).toEqual({ ...unknown, id })
})

// StrykerJS runs tests in threads, and a run is a process that only the main thread can start.
it.runIf(isMainThread)('waits for the end of a run, and counts what a report lists', async () => {
  const queued = (await call('run_backtest', { ...SHORT, symbol: 'BTC', wait_seconds: 0 })) as {
    id?: unknown
  }
  expect(queued).toMatchObject({ isError: false, kind: 'backtest', status: 'queued', report: null })
  const wait = () => call('get_backtest', { id: queued.id, wait_seconds: 20 })
  await expect.poll(wait).toMatchObject({ status: 'done' })
  const done = await wait()
  expect(done).toMatchObject({
    isError: false,
    id: queued.id,
    status: 'done',
    report: { strategy: 'ma_crossover', symbols: ['BTC'] },
  })
})
