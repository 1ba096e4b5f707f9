import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventsOf } from './acts.ts'
import {
  cleanUp,
  newHome,
  startService,
  svc,
  untilNextMinute,
  TOKEN,
  type RunningService,
  type Variables,
} from './service.ts'
import { isFull } from '../generated.fixture.ts'
import { postgresMissing, sharedPostgres } from '../postgres/server.fixture.ts'
import { onDefaultStore } from './stores.ts'

/** A market that is fast enough to watch. */
const LIVELY = {
  SVC_MARKET__FEED: 'simulated',
  SVC_MARKET__SEED: '4',
  SVC_MARKET__TICK_SECONDS: '1',
  SVC_MARKET__BAR_SECONDS: '1',
  // A backtest reads only the first 50 of these hours.
  SVC_MARKET__WARMUP_HOURS: '51',
  SVC_BRAIN__CYCLE_INTERVAL_SECONDS: '1',
}

onDefaultStore('a market', (store) => {
  let variables: Variables
  let service: RunningService
  let home: string
  beforeAll(async () => {
    variables = { ...(await store()), ...LIVELY }
    home = await newHome()
    service = await startService(home, variables)
  })
  /** Number of events of a type, up to one page. */
  const countOf = async (type: string): Promise<number> => (await eventsOf(service, type)).length
  const newestSeqOf = async (type: string): Promise<number> => (await eventsOf(service, type))[0]?.seq ?? 0

  it('has a past at once, and then a present', async () => {
    await expect.poll(() => countOf('market.bar')).toBe(500)
    const isLive = async () =>
      (await eventsOf(service, 'market.bar')).some(({ payload }) => payload['backfill'] === false)
    await expect.poll(isLive).toBe(true)
  })

  it('makes producers speak, and shows how they are', async () => {
    await expect.poll(() => countOf('signal.ta')).toBeGreaterThan(0)
    const healthOf = async (name: string) =>
      ((await service.call('GET', '/producers/status')).body as { producers: Record<string, object> })
        .producers[name]
    for (const name of ['technical-analysis', 'tradfi-basis', 'orderbook-depth', 'whale-tracking']) {
      await expect.poll(() => healthOf(name)).toMatchObject({ health: 'ok' })
    }
    const metrics = (await service.call('GET', '//metrics')).text
    expect(metrics).toContain('svc_producer_health{producer="technical-analysis",health="ok"} 1')
  })

  it('can be run through again from the log, while it goes on', async () => {
    for (const type of ['signal.ta', 'signal.tradfi', 'signal.onchain', 'signal.social']) {
      await expect.poll(() => countOf(type)).toBeGreaterThan(0)
    }
    // From this time on, no cycle can lack earlier signals.
    const from = new Date().toISOString()
    const newestOpen = async () => String((await eventsOf(service, 'market.bar'))[0]?.payload['open_ts'])
    await expect.poll(async () => Date.parse(await newestOpen()) - Date.parse(from)).toBeGreaterThan(2000)
    const words = ['backtest', '--recorded', '--from', from, '--json']
    const { exitCode, stdout, stderr } = await svc(home, words, variables)
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const document = JSON.parse(stdout) as { readonly bars: number; readonly held_back: object }
    expect(document).toMatchObject({ market: 'log', bar_seconds: 1, strategy: 'brain' })
    expect(document.bars).toBeGreaterThan(0)
    // Cycles were run, and used the signals of the producers.
    expect(Object.keys(document.held_back).length).toBeGreaterThan(0)
    expect(document.held_back).not.toHaveProperty('coverage')
  })

  it('is thought about by the clock, and every decision can be explained', async () => {
    await expect.poll(() => countOf('brain.cycle')).toBeGreaterThan(1)
    const [newest] = await eventsOf(service, 'brain.cycle')
    expect(newest?.payload).toMatchObject({ trigger: 'schedule', kill_switch_level: 0 })
    const explanation = (await service.call('GET', '/brain/explain/last?symbol=BTC')).body as {
      convictions: readonly { inputs: readonly { author: string }[]; what_if: readonly object[] }[]
    }
    const [btc] = explanation.convictions
    expect(btc?.inputs.map(({ author }) => author)).toContain('technical-analysis')
    expect(btc?.what_if.length).toBeGreaterThan(3)
    expect((await service.call('GET', '/brain/explain/nothing')).body).toMatchObject({
      status: 404,
      code: 'decision.not_found',
    })
  })

  it('goes on after a restart without a gap in the chain or a repeated bar', async () => {
    await service.stop()
    service = await startService(service.home, variables)
    const seq = await newestSeqOf('market.bar')
    await expect.poll(() => newestSeqOf('market.bar')).toBeGreaterThan(seq)
    expect((await service.call('GET', '/integrity?mode=full')).body).toMatchObject({ ok: true })
    const refused = (await eventsOf(service, 'system.audit')).filter(({ source }) => source === 'market')
    expect(refused).toEqual([])
  })
})

// In full runs tested on all stores at the same time, because the shortest step of a schedule is a minute.
describe('polling', () => {
  afterAll(cleanUp)

  it('goes to no address of our own network, unless it may', async () => {
    const asked: string[] = []
    const endpoint = createServer((request, response) => {
      asked.push(request.headers.host ?? '')
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify([{ type: 'signal.onchain.v1', payload: { symbol: 'BTC', whale_netflow: 5 } }]),
      )
    }).listen(0, '127.0.0.1')
    await once(endpoint, 'listening')
    const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/`
    const stores = [
      () => Promise.resolve({}),
      ...(isFull && postgresMissing === null
        ? [async () => ({ SVC_STORE__URL: await (await sharedPostgres()).freshDatabase() })]
        : []),
    ]
    await Promise.all(stores.map((store) => pollsOnlyWhereItMay(store, url)))
    expect(asked).toHaveLength(stores.length)
    endpoint.close()
  })
})

const pollsOnlyWhereItMay = async (store: () => Promise<Variables>, url: string): Promise<void> => {
  const options = { clockOffsetMs: untilNextMinute(10) }
  const strict = await startService(await newHome(), await store(), options)
  const variables = { ...(await store()), SVC_PRODUCERS__ALLOW_PRIVATE_ENDPOINTS: 'true' }
  const open = await startService(await newHome(), variables, options)
  const body = { name: 'near', domain: 'onchain', endpoint: url, schedule: '* * * * *' }
  for (const service of [strict, open]) await service.call('POST', '/producers/register', { body })
  const near = async (service: RunningService) =>
    ((await service.call('GET', '/producers/status')).body as { producers: Record<string, object> })
      .producers['near']
  await expect
    .poll(() => near(strict), { interval: 500 })
    .toMatchObject({ health: 'degraded', last_error: 'endpoint blocked: loopback address' })
  await expect.poll(() => near(open)).toMatchObject({ health: 'ok', events_produced: 1 })
  expect(await eventsOf(open, 'signal.onchain')).toMatchObject([{ source: 'near' }])
  for (const service of [strict, open]) await service.stop()
}

describe('a newcomer', () => {
  afterAll(cleanUp)
  it('sees a market right after the first start', async () => {
    const home = await newHome()
    const service = await startService(home, { SVC_API__AUTH_TOKEN: TOKEN }, { words: ['up'] })
    await expect.poll(async () => (await eventsOf(service, 'signal.ta')).length).toBe(5)
    expect(await eventsOf(service, 'market.bar')).not.toEqual([])
    await service.stop()
  })

  it('hears nothing from a service without a feed', async () => {
    const service = await startService(await newHome(), { SVC_BRAIN__CYCLE_INTERVAL_SECONDS: '1' })
    const before = (await service.call('GET', '/events')).text
    await new Promise((resolve) => setTimeout(resolve, 2500))
    expect((await service.call('GET', '/events')).text).toBe(before)
    await service.stop()
  })
})
