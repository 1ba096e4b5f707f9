import { isMainThread } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LocalRuns } from '../../../backtest/runs/local-runs.ts'
import type { Run, RunResult } from '../../../backtest/runs/runs.ts'
import { runsInMemory } from '../../../compose/run-files.ts'
import { OPERATOR } from '../../caller.ts'
import { startTestServer, type TestServer } from '../../http/test-server.fixture.ts'
import { callersOf, resultOf, type ToolAnswer } from '../caller.fixture.ts'
import { createMcpEndpoint } from '../endpoint.ts'

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

/** An endpoint whose runs end with a given result, once they are allowed to. */
const endpointWith = async (work: (run: Run) => Promise<RunResult>, queuedMax = 8) => {
  const { engine, logger, clock, version } = server
  const backtests = await LocalRuns.open({
    store: runsInMemory(),
    clock,
    settings: () => ({ max_queued: queuedMax, keep: 10 }),
    check: () => Promise.resolve(),
    work,
    onError: (what, error) => {
      throw new Error(what, { cause: error })
    },
  })
  const endpoint = createMcpEndpoint({
    engine,
    backtests,
    configuration: () => server.configuration.current(),
    recentChainOk: () => Promise.resolve(true),
    logger,
    clock,
    version,
  })
  const tool = async (name: string, args: object) => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
    const { body, effect } = await endpoint({
      body: { status: 'parsed', value: message },
      headers: { protocolVersion: null, method: null, name: null },
      traceId: null,
      requestId: 'r',
      caller: OPERATOR,
    })
    return { ...resultOf(body as unknown as ToolAnswer).structuredContent, effect } as {
      readonly id?: string
      readonly effect: string
    }
  }
  return { tool, backtests }
}

const NUMBERS = Array.from({ length: 21 }, (_, index) => index)

describe('a run that has ended', () => {
  it('is answered at once if it ends while its caller waits', async () => {
    const { tool } = await endpointWith(async () => REPORT)
    expect(await tool('run_backtest', { wait_seconds: 20 })).toMatchObject({
      status: 'done',
      effect: 'written',
    })
    expect(await tool('run_sweep', { set: ['fast=5,10'], wait_seconds: 20 })).toMatchObject({
      kind: 'sweep',
      status: 'done',
      effect: 'written',
    })
  })

  it('is told without its long lists, and with its best ten parameter sets', async () => {
    const { tool } = await endpointWith(async () => REPORT)
    const { id } = await tool('run_sweep', { set: ['fast=5,10'], wait_seconds: 20 })
    expect(await tool('get_sweep', { id })).toMatchObject({ id, effect: 'read' })
    const { report } = (await tool('get_sweep', { id })) as unknown as { report: object }
    expect(report).toEqual({
      verdict: 'no edge found',
      short: NUMBERS.slice(0, 20),
      figures: { sharpe: 1 },
      results: NUMBERS.slice(0, 10),
    })
  })

  it('is not waited for longer than its caller wants', async () => {
    let end: (result: RunResult) => void = () => undefined
    const { tool } = await endpointWith(() => new Promise((resolve) => (end = resolve)))
    const { id } = await tool('run_backtest', { wait_seconds: 0 })
    await expect.poll(() => tool('get_backtest', { id })).toMatchObject({ status: 'running', report: null })
    const waited = tool('get_backtest', { id, wait_seconds: 20 })
    end(REPORT)
    expect(await waited).toMatchObject({ id, status: 'done' })
  })

  it('is not the one of another caller of a full queue', async () => {
    const { tool } = await endpointWith(() => new Promise(() => undefined), 1)
    const started = await Promise.all([1, 2, 3].map(() => tool('run_backtest', { wait_seconds: 0 })))
    expect(started).toContainEqual({ error: 'queue_full', max: 1, effect: 'none' })
  })
})

/** The members that the tools of a sweep shorten. */
const REPORT = {
  verdict: 'no edge found',
  short: NUMBERS.slice(0, 20),
  long: NUMBERS,
  figures: { sharpe: 1, days: NUMBERS },
  heat_map: { cells: [] },
  results: NUMBERS,
} as unknown as RunResult
