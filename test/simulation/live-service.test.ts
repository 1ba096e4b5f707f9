import dns from 'node:dns'
import { mkdtemp, rm } from 'node:fs/promises'
import { isIP } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createSystemClock } from '../../src/adapters/platform/clock/system-clock.ts'
import { createVault } from '../../src/adapters/platform/vault/vault.ts'
import { startService, type Service } from '../../src/compose/service.ts'
import { environmentOf } from '../../src/compose/environment.ts'
import { createCommandDependencies } from '../../src/compose/command-dependencies.ts'
import type { LiveView } from '../../src/core/views/kill-switch.ts'
import { runCommandLine } from '../../src/surfaces/cli/run.ts'
import { emit, eventsOf, registerProducer } from '../interface/acts.ts'
import { agreementOn, bullMarket } from '../interface/opinions.ts'
import type { Answer, RunningService } from '../interface/service.ts'
import { startExchangeServer } from '../exchange-server/exchange-server.ts'

const TOKEN = 'live-service-token-of-more-than-thirty-two-characters'
const PASSWORD = 'a password for the vault of a test'
const WORDS = { 'broker.binanceusdm.api_key': 'key-of-the-vault', 'broker.binanceusdm.secret': 'its-secret' }

let home = ''
let service: Service | null = null
let asked: string[] = []

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'live-service-'))
  asked = []
})
afterEach(async () => {
  await service?.close()
  service = null
  vi.restoreAllMocks()
  await rm(home, { recursive: true })
})

type Lookup = (host: string, ...rest: readonly unknown[]) => void

/** Simulates a machine without a network: host names are not found, or lookups never return. */
const withoutNetwork = (kind: 'no such name' | 'silence'): void => {
  const original = dns.lookup as Lookup
  const lookup: Lookup = (host, ...rest) => {
    if (isIP(host) !== 0 || host === 'localhost') return original(host, ...rest)
    asked.push(host)
    const done = rest.at(-1) as (error: Error) => void
    if (kind === 'no such name')
      process.nextTick(() => done(Object.assign(new Error(`no ${host}`), { code: 'ENOTFOUND' })))
  }
  vi.spyOn(dns, 'lookup').mockImplementation(lookup)
}

const storeKeys = async (): Promise<void> => {
  const vault = createVault({ home, password: PASSWORD, clock: createSystemClock() })
  for (const [name, value] of Object.entries(WORDS)) await vault.set(name, value)
}

const variablesOf = (changes: Readonly<Record<string, string>>): Readonly<Record<string, string>> => ({
  SVC_DEV_MODE: '1',
  SVC_API__AUTH_TOKEN: TOKEN,
  SVC_LOGGING__LEVEL: 'ERROR',
  SVC_MASTER_PASSWORD: PASSWORD,
  SVC_EXECUTION__MODE: 'live',
  SVC_EXECUTION__VENUE: 'binanceusdm',
  ...changes,
})

const start = async (
  changes: Readonly<Record<string, string>> = {},
  inMemory = true,
): Promise<RunningService> => {
  const options = { host: '127.0.0.1', port: 0, dashboard: false, inMemory }
  const started = await startService(environmentOf(home, variablesOf(changes), 'test'), options)
  service = started
  return {
    baseUrl: started.baseUrl,
    home,
    output: () => '',
    call: (method, path, { body, headers = {} } = {}) => call(started.baseUrl + path, method, body, headers),
    stop: () => started.close().then(() => null),
  }
}

const call = async (url: string, method: string, body: unknown, headers: object): Promise<Answer> => {
  const response = await fetch(url, {
    method,
    headers: {
      Authorization: `Bearer ${TOKEN}`,
      Accept: 'application/json, text/event-stream',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as never }
}

const liveOf = async (running: RunningService): Promise<LiveView> => (await running.call('GET', '/live')).body

const checkOf = (live: LiveView, name: string) => live.checks?.items.find((item) => item.name === name)

/** Waits for the result of the check at the venue. */
const checkedLive = async (running: RunningService): Promise<LiveView> => {
  for (;;) {
    const live = await liveOf(running)
    if (checkOf(live, 'markets') !== undefined) return live
    await sleep(20)
  }
}

/** Emits everything that leads to an order on paper. */
const wantToTrade = async (running: RunningService): Promise<readonly object[]> => {
  await bullMarket(running)
  await emit(running, 'ticker', 'signal.price_ws.v1', { symbol: 'ETH', price: 100 })
  await agreementOn(running, 'ETH')
  const cycle: { intents: readonly object[] } = (await running.call('POST', '/brain/run')).body
  return cycle.intents
}

describe('a service that is to trade live', () => {
  it('sends nothing before it is confirmed and its venue was reached, and says so', async () => {
    withoutNetwork('no such name')
    await storeKeys()
    const running = await start({ SVC_EXECUTION__REQUIRE_APPROVAL: 'false' })
    const live = await checkedLive(running)
    expect(live).toMatchObject({ mode: 'live', venue: 'binanceusdm', sends_entries: false, confirmed: null })
    expect(live.held_back_by).toEqual(['not_confirmed', 'check_failed', 'paper_period', 'price_old'])
    expect(checkOf(live, 'reachable')).toMatchObject({ ok: false })
    expect(JSON.stringify(live)).not.toContain('key-of-the-vault')
    expect(new Set(asked)).toEqual(new Set(['fapi.binance.com']))

    await registerProducer(running, 'ticker', 'technical')
    expect(await wantToTrade(running)).toMatchObject([{ symbol: 'ETH', status: 'rejected' }])
    expect(await eventsOf(running, 'execution.order_submitted')).toEqual([])
    expect((await running.call('GET', '/positions')).body).toEqual([])
  })

  it('says which key is missing', async () => {
    withoutNetwork('no such name')
    const live = await liveOf(await start())
    expect(live).toMatchObject({ sends_entries: false, checks: { ok: false } })
    expect(checkOf(live, 'keys')?.detail).toContain('broker.binanceusdm.api_key')
    expect(asked).toEqual([])
  })

  it('says that no venue is named', async () => {
    withoutNetwork('no such name')
    const live = await liveOf(await start({ SVC_EXECUTION__VENUE: '' }))
    expect(live).toMatchObject({ venue: null, sends_entries: false, held_back_by: ['no_venue'] })
    expect(asked).toEqual([])
  })

  it('starts and stops beside a network that is silent', async () => {
    withoutNetwork('silence')
    await storeKeys()
    const running = await start()
    expect(checkOf(await liveOf(running), 'reachable')?.detail).toBe('not checked yet')
    while (asked.length === 0) await sleep(20)
    await running.stop()
    service = null
  })
})

describe('a service that practises at a venue', () => {
  it(
    'enters when it may, leaves at its stop, and remembers position and level',
    { timeout: 600_000 },
    async () => {
      const venue = await startExchangeServer({
        now: () => Date.now(),
        perpetuals: ['BTC', 'ETH', 'SOL', 'SUI', 'HYPE'],
      })
      const { apiKey, secret } = venue.world.account
      venue.world.prices.set('ETH', 10_000_000_000n)
      const environment = {
        SVC_EXECUTION__VENUE: 'binanceusdm-sandbox',
        SVC_EXECUTION__VENUE_URL: venue.baseUrl,
        SVC_MARKET__FEED: 'none',
        BROKER_BINANCEUSDM_SANDBOX_API_KEY: apiKey,
        BROKER_BINANCEUSDM_SANDBOX_SECRET: secret,
      }
      try {
        let running = await start(environment, false)
        expect((await checkedLive(running)).held_back_by).toContain('not_confirmed')
        await until(async () => (await liveOf(running)).checks?.ok === true)
        expect(await commandLine(environment, 'live', 'enable', '--confirm', 'binanceusdm-sandbox')).toBe(0)
        // Prices must agree with those of the venue, which is polled every 30 s.
        await registerProducer(running, 'ticker', 'technical')
        await until(async () => {
          await emit(running, 'ticker', 'signal.price_ws.v1', { symbol: 'ETH', price: 100 })
          return (await liveOf(running)).sends_entries
        })

        const [intent] = (await wantToTrade(running)) as readonly { intent_id: string }[]
        expect(intent).toMatchObject({ symbol: 'ETH', status: 'awaiting_approval' })
        expect(venue.world.account.attempts).toEqual([])
        expect(await running.call('POST', `/intents/${intent?.intent_id}/approve`)).toMatchObject({
          status: 200,
        })
        await until(async () => (await positionsOf(running)).length === 1)
        expect(venue.world.account.holdings.get('ETH')?.quantity).toBeGreaterThan(0n)
        expect(venue.requests.filter((request) => request.includes('/order?')).length).toBeGreaterThan(0)

        // Open positions and the level of the switch are known again after a restart.
        await running.call('POST', '/kill-switch', { body: { level: 1, reason: 'a test' } })
        await running.stop()
        running = await start(environment, false)
        await until(async () => (await liveOf(running)).checks?.ok === true)
        expect((await positionsOf(running))[0]).toMatchObject({
          asset: 'ETH',
          platform: 'binanceusdm-sandbox',
        })
        expect((await running.call('GET', '/kill-switch')).body).toMatchObject({ level: 1 })

        // A price far below the stop, reported twice: a single outlier triggers nothing.
        venue.world.prices.set('ETH', 9_300_000_000n)
        for (const price of [93, 92.9])
          await emit(running, 'ticker', 'signal.price_ws.v1', { symbol: 'ETH', price })
        await until(async () => (await positionsOf(running)).length === 0)
        expect(venue.world.account.holdings.get('ETH')?.quantity ?? 0n).toBe(0n)
        const [closed] = await eventsOf(running, 'execution.position_closed')
        expect(closed?.payload).toMatchObject({ exit_reason: 'stop_loss', asset: 'ETH' })
        const ids = venue.world.account.orders.map(({ clientOrderId }) => clientOrderId)
        expect(new Set(ids).size).toBe(ids.length)

        // Entries are blocked from level 2 on.
        await running.call('POST', '/kill-switch', { body: { level: 2, reason: 'a test' } })
        expect((await liveOf(running)).held_back_by).toContain('kill_switch')
      } finally {
        await service?.close()
        service = null
        await venue.close()
      }
    },
  )
})

const positionsOf = async (running: RunningService): Promise<readonly object[]> =>
  (await running.call('GET', '/positions')).body

const until = async (isSo: () => Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await sleep(50)
}

/** Runs `svc` beside the service, on the same log. */
const commandLine = (
  changes: Readonly<Record<string, string>>,
  ...words: readonly string[]
): Promise<number> => {
  const environment = variablesOf(changes)
  const at = (folder: string) => environmentOf(folder, environment, 'test')
  const output = new Writable({ write: (_chunk, _encoding, done) => done() })
  return runCommandLine(words, {
    stdin: Readable.from([]),
    stdout: output,
    stderr: output,
    environment,
    currentFolder: home,
    version: 'test',
    clock: at(home).clock,
    dependenciesAt: async (folder) => createCommandDependencies(at(folder)),
  })
}
