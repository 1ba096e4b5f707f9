import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { startExchangeServer, type ExchangeServer } from '../exchange-server/exchange-server.ts'
import { volume } from '../generated.fixture.ts'
import { emit, eventsOf, registerProducer } from '../interface/acts.ts'
import { agreementOn, bullMarket } from '../interface/opinions.ts'
import { newHome, startProcess, svc, type RunningService, type Variables } from '../interface/service.ts'
import { onEveryStore } from '../interface/stores.ts'
import { asksWithin, eventsAfter, leads, repeatedIn, until } from './leading.fixture.ts'

/** Five seconds, plus the time to notice it. */
const REPLACED_WITHIN = asksWithin(6500)

/** A short lease, for tests without a venue. */
const SHORT_LEASE_SECONDS = volume({ normal: 2, full: 5 })
const SOON_REPLACED_WITHIN = asksWithin(SHORT_LEASE_SECONDS * 1000 + 1500)
/** Minimum time for which a leader is frozen, and time for which it is watched afterwards. */
const FROZEN_MS = volume({ normal: 3000, full: 30_000 })
const WATCHED_MS = volume({ normal: 1500, full: 5000 })

const VENUE = 'binanceusdm-sandbox'

const venueVariables = ({ baseUrl, world: { account } }: ExchangeServer): Variables => ({
  SVC_DEV_MODE: '1',
  SVC_EXECUTION__MODE: 'live',
  SVC_EXECUTION__VENUE: VENUE,
  SVC_EXECUTION__VENUE_URL: baseUrl,
  SVC_EXECUTION__SEND_TIMEOUT_SECONDS: '4',
  SVC_EXECUTION__LOOKUPS__SECONDS: '10',
  SVC_EXECUTION__LOOKUPS__ATTEMPTS: '2',
  SVC_MARKET__FEED: 'none',
  BROKER_BINANCEUSDM_SANDBOX_API_KEY: account.apiKey,
  BROKER_BINANCEUSDM_SANDBOX_SECRET: account.secret,
})

const wantToTrade = async (service: RunningService): Promise<void> => {
  await registerProducer(service, 'ticker', 'technical')
  await bullMarket(service)
  await emit(service, 'ticker', 'signal.price_ws.v1', { symbol: 'ETH', price: 100 })
  await agreementOn(service, 'ETH')
  const cycle: { intents: readonly { intent_id: string }[] } = (await service.call('POST', '/brain/run')).body
  const [intent] = cycle.intents
  expect(await service.call('POST', `/intents/${intent?.intent_id}/approve`)).toMatchObject({ status: 200 })
}

const positionsOf = async (service: RunningService): Promise<readonly object[]> =>
  (await service.call('GET', '/positions')).body

/** Describes the orders of a service, for a test that waited for one in vain. */
const whyNoOrder = async (service: RunningService): Promise<string> => {
  const paths = ['/orders', '/live', '/kill-switch', '/events?limit=40']
  const answers = await Promise.all(paths.map((path) => service.call('GET', path)))
  return answers.map(({ text }, index) => `${paths[index]}: ${text}`).join('\n')
}

onEveryStore('a leader that is frozen', (store) => {
  it('is replaced in time; awake again it sends nothing, not even an order it was about to send', async () => {
    const venue = await startExchangeServer({
      now: () => Date.now(),
      perpetuals: ['BTC', 'ETH', 'SOL', 'SUI', 'HYPE'],
    })
    venue.world.prices.set('ETH', 10_000_000_000n)
    const { account } = venue.world
    const home = await newHome()
    const variables = { ...venueVariables(venue), ...(await store()) }
    const first = await startProcess(home, variables, { words: ['serve', '--no-dashboard'] })
    const second = await startProcess(home, variables, { words: ['serve', '--no-dashboard'] })
    try {
      // The start of the second process may have kept the first from confirming its lease in time.
      await until(() => leads(first))
      expect(await leads(second)).toBe(false)
      /** True if only missing prices hold orders back. Prices come with the order. */
      const awaitsPrices = async (service: RunningService): Promise<boolean> => {
        const live: { held_back_by: readonly string[] } = (await service.call('GET', '/live')).body
        return live.held_back_by.join() === 'price_old'
      }
      const isChecked = async (service: RunningService): Promise<boolean> => {
        const { checks }: { checks: { ok: boolean } | null } = (await service.call('GET', '/live')).body
        return checks?.ok === true
      }
      await until(() => isChecked(first))
      expect((await svc(home, ['live', 'enable', '--confirm', VENUE], variables)).exitCode).toBe(0)
      await until(() => awaitsPrices(first))

      // The order of the first leader is decided and stored, and one request away from the venue.
      venue.faults.add(/POST .*\/v1\/leverage$/, { kind: 'done_then_slow', waitMs: 120_000 }, 1)
      await wantToTrade(first)
      await until(() => venue.requests.some((request) => request.includes('v1/leverage?')))
      expect(account.attempts).toEqual([])
      first.signal('SIGSTOP')
      const frozenMs = performance.now()

      expect(await until(() => leads(second))).toBeLessThan(REPLACED_WITHIN)
      // The new leader does not find the order at the venue, and sends it.
      await until(async () => (await positionsOf(second)).length === 1).catch(async (cause: unknown) => {
        throw new Error(await whyNoOrder(second), { cause })
      })
      expect(account.attempts).toHaveLength(1)
      const held = account.holdings.get('ETH')?.quantity
      await sleep(Math.max(0, frozenMs + 15_000 - performance.now()))

      const { length: requestsBefore } = venue.requests
      venue.release()
      first.signal('SIGCONT')
      await until(() => first.output().includes('leadership lost'))
      expect(await leads(first)).toBe(false)
      await sleep(3000)
      expect(account.attempts).toHaveLength(1)
      expect(account.holdings.get('ETH')?.quantity).toBe(held)
      expect(
        venue.requests.slice(requestsBefore).filter((request) => request.includes('newClientOrderId=')),
      ).toEqual([])

      // The former leader still serves clients. Their signals lead to an order of the new leader.
      venue.world.prices.set('ETH', 9_300_000_000n)
      for (const price of [93, 92.9])
        await emit(first, 'ticker', 'signal.price_ws.v1', { symbol: 'ETH', price })
      await until(async () => (await positionsOf(first)).length === 0)
      expect(account.attempts).toHaveLength(2)
      expect(account.holdings.get('ETH')?.quantity ?? 0n).toBe(0n)

      const leaders = (await eventsOf(first, 'system.leader')).toSorted((one, other) => one.seq - other.seq)
      expect(leaders.map(({ payload }) => payload['token'])).toEqual([1, 2])
      expect(account.attempts.map(({ clientOrderId }) => clientOrderId.slice(0, 6))).toEqual([
        '000001',
        '000002',
      ])
      expect(account.attempts.every(({ clientOrderId }) => /^[0-9a-f]{32}$/.test(clientOrderId))).toBe(true)
    } finally {
      first.signal('SIGCONT')
      await Promise.all([first.stop(), second.stop()])
      await venue.close()
    }
  })

  it('stores nothing while it is frozen and nothing afterwards; no bar and no cycle is there twice', async () => {
    const home = await newHome()
    const variables = {
      ...(await store()),
      SVC_DEV_MODE: '1',
      SVC_MARKET__FEED: 'simulated',
      SVC_MARKET__WARMUP_HOURS: '1',
      SVC_STORE__LEASE_SECONDS: SHORT_LEASE_SECONDS.toString(),
      SVC_BRAIN__CYCLE_INTERVAL_SECONDS: volume({ normal: 1, full: 2 }).toString(),
    }
    const first = await startProcess(home, variables, { words: ['serve', '--no-dashboard'] })
    const second = await startProcess(home, variables, { words: ['serve', '--no-dashboard'] })
    const cycles = async (): Promise<number> =>
      (await eventsAfter(second, 0)).filter(({ type }) => type === 'brain.cycle.v1').length
    await until(async () => (await cycles()) > 1, 500)
    first.signal('SIGSTOP')
    const frozenMs = performance.now()
    expect(await until(() => leads(second))).toBeLessThan(SOON_REPLACED_WITHIN)
    const { length: before } = await eventsAfter(second, 0)
    await sleep(Math.max(0, frozenMs + FROZEN_MS - performance.now()))
    await until(
      async () =>
        (await eventsAfter(second, before)).filter(({ type }) => type === 'brain.cycle.v1').length > 3,
      500,
    )
    first.signal('SIGCONT')
    await until(() => first.output().includes('leadership lost'))
    await sleep(WATCHED_MS)
    await until(() => leads(second))
    expect(await leads(first)).toBe(false)
    const all = await eventsAfter(second, 0)
    expect(all.filter(({ type }) => type === 'system.leader.v1')).toHaveLength(2)
    expect(repeatedIn(all)).toEqual([])
    // A clean stop hands leadership over at once, here to the process that was frozen.
    const stopped = second.stop('SIGINT')
    expect(await until(() => leads(first))).toBeLessThan(asksWithin(5000))
    await stopped
    await first.stop()
  })
})
