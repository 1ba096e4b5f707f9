import { readdir, readFile, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import type { Run } from '../../../backtest/runs/runs.ts'
import { openBacktests } from '../../../compose/backtests.ts'
import { environmentOf } from '../../../compose/environment.ts'
import { createHistoryCommands } from '../../../compose/history.ts'
import { RunStreams } from '../stream/progress.ts'
import { startTestServer, type Called, type TestServer } from '../test-server.fixture.ts'

let server: TestServer
afterEach(() => server.close())

const SHORT = {
  strategy: 'ma_crossover',
  symbol: 'BTC',
  from: '2026-01-05T00:00:00Z',
  to: '2026-01-06T00:00:00Z',
  parameters: { fast: 5, slow: 20 },
}

const LONG = { strategy: 'ma_crossover', from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z' }

const start = (json: object): Promise<Called> => server.call('POST', '/backtests', { json })

const statusOf = async (id: unknown): Promise<unknown> =>
  (await server.call('GET', `/backtests/${String(id)}`)).body['status']

const until = async (id: unknown, status: string): Promise<void> => {
  await expect.poll(() => statusOf(id), { interval: 20 }).toBe(status)
}

describe('a backtest over HTTP', () => {
  it('is queued, runs beside the service, and has a report and a plain verdict', async () => {
    server = await startTestServer()
    const accepted = await start(SHORT)
    expect(accepted.status).toBe(202)
    const { id } = accepted.body
    expect(accepted.headers.get('location')).toBe(`/api/v1/backtests/${String(id)}`)
    expect(accepted.body).toMatchObject({ kind: 'backtest', status: 'queued', progress: 0, verdict: null })
    await until(id, 'done')
    const { body } = await server.call('GET', `/backtests/${String(id)}`)
    expect(body).toMatchObject({
      request: { ...SHORT, from: '2026-01-05T00:00:00.000Z', to: '2026-01-06T00:00:00.000Z' },
      progress: 1,
      attempts: 1,
      error: null,
      edge_found: false,
      result: { strategy: 'ma_crossover', symbols: ['BTC'], market: 'simulated', left_out: [] },
    })
    expect(body['verdict']).toMatch(/^no edge found: \d+ trades? in \d+ days? are too few to tell/)
    const { items } = (await server.call('GET', '/backtests')).body as { items: object[] }
    expect(items).toHaveLength(1)
    expect(items[0]).not.toHaveProperty('result')
  })

  it('reads stored series, and refuses what is not stored, without reading any path', async () => {
    server = await startTestServer()
    const { store } = createHistoryCommands(server.home, server.testClock)
    const bars = Array.from({ length: 300 }, (_, hour) => ({
      openMs: Date.UTC(2024, 0, 1, hour),
      open: 100,
      high: 101 + (hour % 7),
      low: 99,
      close: 100 + (hour % 7) / 10,
      volume: 1,
    }))
    await store.merge({ venue: 'binance', symbol: 'BTC-USDT', seconds: 3600 }, bars, { replaces: false })
    const accepted = await start({ strategy: 'momentum', data: ['binance:BTC:1h'] })
    await until(accepted.body['id'], 'done')
    for (const series of [
      'kraken:BTC:1h',
      'binance:ETH:1h',
      '../../etc/passwd',
      'binance:../../../etc:1h',
      '/etc/passwd',
      'binance:BTC:7m',
    ]) {
      const { status, body } = await start({ strategy: 'momentum', data: [series] })
      expect({ series, status, code: body['code'] }).toEqual({
        series,
        status: 422,
        code: 'backtest.refused',
      })
    }
  })

  it.each([
    [{ strategy: 'wizard' }, 'backtest.refused', 'no strategy is named wizard (there are brain'],
    [{ strategy: 'hold', parameters: { fast: 1 } }, 'backtest.refused', 'hold: no parameter is named fast'],
    [{ data: ['binance:BTC:1h'], recorded: true }, 'backtest.refused', 'exclude each other'],
    [{ data: ['binance:BTC:1h'], symbol: 'BTC' }, 'backtest.refused', 'exclude each other'],
    [{ symbol: 'DOGECOIN' }, 'backtest.refused', 'is not in universe.symbols'],
    [{ from: '2026-02-01', to: '2026-01-01' }, 'backtest.refused', 'from comes after to'],
    [{ file: '/etc/passwd' }, 'request.invalid', 'file'],
    [{ stratgy: 'hold' }, 'request.invalid', 'stratgy'],
    [{ parameters: { fast: null } }, 'request.invalid', 'fast'],
    [{ data: Array.from({ length: 21 }, () => 'binance:BTC:1h') }, 'request.invalid', 'data'],
  ])('is refused before anything starts: %j', async (json, code, text) => {
    server = await startTestServer()
    const { status, body, text: raw } = await start(json)
    expect({ status, code: body['code'] }).toEqual({ status: 422, code })
    expect(raw).toContain(text)
    expect((await server.call('GET', '/backtests')).body).toEqual({ items: [] })
  })

  it('waits its turn, within a bound, and can be cancelled before and while it runs', async () => {
    server = await startTestServer({ settings: { backtests: { max_queued: 2 } } })
    const first = (await start(LONG)).body['id']
    const second = (await start(SHORT)).body['id']
    await until(first, 'running')
    expect(await statusOf(second)).toBe('queued')
    const third = await start(SHORT)
    expect(third.status).toBe(429)
    expect(third.body).toMatchObject({ code: 'backtest.queue_full', max: 2 })

    const cancelled = await server.call('DELETE', `/backtests/${String(first)}`)
    expect(cancelled.body).toEqual({ id: first, status: 'cancelled' })
    expect(await statusOf(first)).toBe('cancelled')
    // The next run starts, and the service answers all the while.
    await until(second, 'done')
    expect((await start(SHORT)).status).toBe(202)

    const removed = await server.call('DELETE', `/backtests/${String(first)}`)
    expect(removed.body).toEqual({ id: first, status: 'removed' })
    for (const method of ['GET', 'DELETE']) {
      const gone = await server.call(method, `/backtests/${String(first)}`)
      expect({ status: gone.status, code: gone.body['code'] }).toEqual({
        status: 404,
        code: 'backtest.not_found',
      })
    }
  })

  it('tells its progress on a stream that ends with it', async () => {
    server = await startTestServer()
    const { id } = (await start({ ...SHORT, to: '2026-01-15T00:00:00Z' })).body
    const { text } = await server.call('GET', `/backtests/stream?id=${String(id)}`)
    const runs = [...text.matchAll(/^event: backtest\ndata: (.*)$/gm)].map(
      ([, data = '']) => (JSON.parse(data) as { run: { id: string; status: string; progress: number } }).run,
    )
    expect(new Set(runs.map((run) => run.id))).toEqual(new Set([id]))
    expect(runs.map(({ progress }) => progress)).toEqual(
      runs.map(({ progress }) => progress).toSorted((one, other) => one - other),
    )
    expect(runs.at(-1)).toMatchObject({ status: 'done', progress: 1 })
    const unknown = await server.call('GET', '/backtests/stream?id=nobody')
    expect(unknown.body['code']).toBe('backtest.not_found')
  })

  it('ends its stream also where it ended before the stream began to listen', async () => {
    server = await startTestServer()
    const asItWas = (await start(SHORT)).body as unknown as Run
    await until(asItWas.id, 'done')
    const response = new PassThrough()
    const connection = {
      response: response as unknown as ServerResponse,
      requestId: 'r1',
      holder: { owner: 'token', isOperator: false },
      isChunked: true,
      begin: (_headers: object, first: Buffer) => void response.write(first),
      onClosed: () => undefined,
      isKeyed: false,
      isAuthorized: () => true,
    }
    const streams = new RunStreams(server.backtests)
    expect(streams.open(connection, asItWas, [asItWas])).toBeNull()
    const sent = await textOf(response)
    const statuses = [...sent.matchAll(/^data: (.*)$/gm)].map(
      ([, data = '']) => (JSON.parse(data) as { run: Run }).run.status,
    )
    expect(statuses).toEqual(['queued', 'done'])
    expect(sent).not.toContain('"result"')
  })

  it('survives a restart: results are kept, and what was interrupted is begun again', async () => {
    server = await startTestServer({ settings: { backtests: { keep: 2 } } })
    const { id } = (await start(SHORT)).body
    await until(id, 'done')
    const folder = join(server.home, 'data', 'backtests')
    const stored = async () => JSON.parse(await readFile(join(folder, `${String(id)}.json`), 'utf8'))
    await expect.poll(async () => (await stored()).status).toBe('done')
    const done = await stored()
    const interrupted = { ...done, id: 'interrupted', status: 'running', result: null, ended_at: null }
    const hopeless = { ...interrupted, id: 'hopeless', attempts: 3 }
    await writeFile(join(folder, 'interrupted.json'), JSON.stringify(interrupted))
    await writeFile(join(folder, 'hopeless.json'), JSON.stringify(hopeless))
    await writeFile(join(folder, 'torn.json'), '{"id":"to')
    const again = await openBacktests({
      environment: { ...environmentOf(server.home, {}, '1.2.3'), clock: server.testClock },
      configuration: () => server.configuration.current(),
      logger: server.logger,
      inMemory: false,
    })
    try {
      await expect.poll(async () => (await again.get('interrupted'))?.status).toBe('done')
      expect((await again.get('interrupted'))?.result).toEqual(done.result)
      expect(await again.get('hopeless')).toMatchObject({
        status: 'failed',
        error: { code: 'backtest.interrupted' },
      })
      // Two of the three ended runs are kept, and the unreadable file stays.
      await expect.poll(() => readdir(folder)).toHaveLength(3)
      expect(await readdir(folder)).toContain('torn.json')
    } finally {
      await again.close()
    }
  })
})

describe('an agent', () => {
  const callTool = async (name: string, args: object) => {
    const json = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
    const { body } = await server.call('POST', '/mcp', { json })
    expect(body).toHaveProperty('result')
    return body['result'] as { structuredContent: Record<string, unknown>; isError: boolean }
  }

  it('is told plainly what is left of many trials', async () => {
    server = await startTestServer()
    const { strategy, symbol, from, to } = SHORT
    const asked = { strategy, symbol, from, to, set: ['fast=5..16:1', 'slow=20'] }
    const { structuredContent: run, isError } = await callTool('run_sweep', { ...asked, wait_seconds: 20 })
    expect(isError).toBe(false)
    expect(run).toMatchObject({
      kind: 'sweep',
      status: 'done',
      edge_found: false,
      report: { trials: 12, survivors: 0, false_discovery_rate: 0.05 },
    })
    expect(run['verdict']).toMatch(/^no edge found: .* after correction for 12 parameter sets/)
    const { results } = run['report'] as { results: readonly object[] }
    expect(results).toHaveLength(10)
    expect(results[0]).toMatchObject({ survives: false, q_value: expect.any(Number) })
    expect(results[0]).toHaveProperty('deflated_sharpe')
    expect((await callTool('get_sweep', { id: run['id'] })).structuredContent).toEqual(run)
    // Neither the id of a sweep nor an unknown id is found, and neither call waits.
    for (const [tool, id] of [
      ['get_backtest', run['id']],
      ['get_sweep', 'nobody'],
    ] as const)
      expect(await callTool(tool, { id, wait_seconds: 20 })).toMatchObject({
        isError: true,
        structuredContent: { error: 'backtest_not_found' },
      })
    expect(await callTool('run_sweep', { ...asked, set: ['fast'] })).toMatchObject({
      isError: true,
      structuredContent: { error: 'backtest_refused', detail: expect.stringContaining('fast=5..50:5') },
    })
  })

  it('is told plainly that nothing was found', async () => {
    server = await startTestServer()
    const { structuredContent: run, isError } = await callTool('run_backtest', { ...SHORT, wait_seconds: 20 })
    expect(isError).toBe(false)
    expect(run).toMatchObject({ status: 'done', edge_found: false, report: { strategy: 'ma_crossover' } })
    expect(run['verdict']).toMatch(/^no edge found: \d+ trades? in \d+ days? are too few to tell/)
    const { structuredContent: same } = await callTool('get_backtest', { id: run['id'] })
    expect(same).toEqual(run)
    expect(await callTool('get_backtest', { id: 'nobody' })).toMatchObject({
      isError: true,
      structuredContent: { error: 'backtest_not_found' },
    })
    expect(await callTool('run_backtest', { strategy: 'wizard' })).toMatchObject({
      isError: true,
      structuredContent: { error: 'backtest_refused' },
    })
    for (const waiting of [{}, { wait_seconds: 0 }]) {
      const { structuredContent: queued } = await callTool('run_backtest', { ...LONG, ...waiting })
      expect(queued).toMatchObject({ verdict: null, report: null })
    }
  })
})

describe('a sweep over HTTP', () => {
  const SWEEP = {
    strategy: 'ma_crossover',
    symbol: 'BTC',
    from: '2026-01-05T00:00:00Z',
    to: '2026-01-06T00:00:00Z',
    set: ['fast=5,10', 'slow=20'],
  }
  const sweep = (json: object): Promise<Called> => server.call('POST', '/sweeps', { json })

  it('waits in the same queue, and says what survives the correction', async () => {
    server = await startTestServer()
    const { status, body, headers } = await sweep(SWEEP)
    expect(status).toBe(202)
    const path = `/sweeps/${String(body['id'])}`
    expect(headers.get('location')).toBe(`/api/v1${path}`)
    const read = async () => (await server.call('GET', path)).body
    await expect.poll(async () => (await read())['status'], { interval: 20 }).toBe('done')
    expect(await read()).toMatchObject({
      kind: 'sweep',
      edge_found: false,
      figures: { trades: expect.any(Number) },
      result: { trials: 2, runs: 2, edge_found: false, results: [{ survives: false }, { survives: false }] },
    })
    expect((await read())['verdict']).toMatch(/^no edge found: .* after correction for 2 parameter sets/)
    // Each list shows only its own kind.
    expect((await server.call('GET', '/backtests')).body).toEqual({ items: [] })
    expect((await server.call('GET', '/sweeps')).body).toMatchObject({ items: [{ id: body['id'] }] })
    expect((await server.call('GET', `/backtests/${String(body['id'])}`)).status).toBe(404)
    expect((await server.call('DELETE', path)).body).toEqual({ id: body['id'], status: 'removed' })
  })

  it.each([
    [{ set: [] }, 'request.invalid'],
    [{ set: ['fast'] }, 'backtest.refused'],
    [{ set: ['quick=1'] }, 'backtest.refused'],
    [{ set: ['fast=1..1000', 'slow=1..1000'] }, 'backtest.refused'],
    [{ set: ['fast=1..1000', 'slow=1..20'] }, 'backtest.refused'],
    [{ walk_forward: '90d:30d' }, 'backtest.refused'],
    [{ walk_forward: '90d' }, 'backtest.refused'],
    [{ walk_forward: '1d:1d:1d' }, 'backtest.refused'],
    [{ folds: 30 }, 'backtest.refused'],
    [{ embargo: '1d' }, 'backtest.refused'],
    [{ folds: 2, embargo: 'long' }, 'backtest.refused'],
    [{ halving: true, folds: 2 }, 'backtest.refused'],
    [{ file: '/etc/passwd' }, 'request.invalid'],
  ])('is refused before anything starts: %j', async (change, code) => {
    server = await startTestServer()
    const { status, body } = await sweep({ ...SWEEP, ...change })
    expect({ status, code: body['code'] }).toEqual({ status: 422, code })
    expect((await server.call('GET', '/sweeps')).body).toEqual({ items: [] })
  })
})
