import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { expect, it } from 'vitest'
import { testSigner } from '../../test/signer.fixture.ts'
import { createSystemClock } from '../adapters/platform/clock/system-clock.ts'
import { answering } from '../adapters/producers/http-poll/servers.fixture.ts'
import { MemoryLog } from '../adapters/storage/memory/memory-log.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import { stampedFrom } from '../core/log/event.ts'
import { Engine } from '../engine/engine.ts'
import { ReplayTime } from '../engine/replay-time.ts'
import { createManualTimer } from '../ports/manual-timer.fixture.ts'
import { openMarket } from './market.ts'
import { environmentOf } from './environment.ts'

const BEGIN_MS = Date.parse('2026-02-20T00:00:58.500Z')

const NOTHING = () => {}
const LOGGER = { debug: NOTHING, info: NOTHING, warn: NOTHING, error: NOTHING }

const answeringWith =
  (...items: readonly object[]): RequestListener =>
  (_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(items))
  }

const onchain = (payload: object) => ({ type: 'signal.onchain.v1', payload })

const PRODUCERS: Readonly<Record<string, RequestListener>> = {
  huge: (_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(`[${'1,'.repeat(5 * 1024 * 1024)}1]`)
  },
  invalid: answeringWith(
    onchain({ symbol: 'BTC', whale_netflow: 'much' }),
    onchain({ symbol: 'BTC', whale_netflow: 1 }),
  ),
  sloppy: answeringWith(onchain({ symbol: ' btc/usdt ', whale_netflow: 1e6 })),
  redirects: (_request, response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
}

interface PollSettings {
  readonly allowPrivate: boolean
  readonly timeoutSeconds: number
}

/** The recorded run of each producer after one poll of all. */
const runsOf = async (
  listeners: Readonly<Record<string, RequestListener>>,
  { allowPrivate, timeoutSeconds }: PollSettings,
) => {
  const timer = createManualTimer(BEGIN_MS)
  const clock = createSystemClock(() => timer.now())
  const engine = await Engine.open({
    log: new MemoryLog(),
    signer: testSigner(),
    clock,
    snapshotEveryEvents: 1000,
    onError: NOTHING,
  })
  const producers = {
    ...DEFAULT_CONFIGURATION.producers,
    allow_private_endpoints: allowPrivate,
    poll_timeout_seconds: timeoutSeconds,
  }
  const market = await openMarket({
    environment: { ...environmentOf(tmpdir(), {}, 'test'), clock },
    engine,
    configuration: () => ({ ...DEFAULT_CONFIGURATION, producers }),
    logger: LOGGER,
    timer,
  })
  for (const [name, listener] of Object.entries(listeners)) {
    const { port } = await answering(listener)
    const endpoint = `http://127.0.0.1:${port}/`
    const producer = { name, domain: 'onchain', endpoint, schedule: '* * * * *' }
    await engine.execute({ kind: 'register-producer', producer, surface: 'api' })
  }
  const read = async (type: string) =>
    (await engine.log.read({ order: 'asc', limit: 100 }))
      .map(stampedFrom)
      .filter((event) => event.type === type)
  await timer.advance(2000)
  const count = Object.keys(listeners).length
  await expect.poll(async () => (await read('producer.run.v1')).length).toBe(count)
  const runs = await read('producer.run.v1')
  const signals = await read('signal.onchain.v1')
  await market.close()
  await engine.close()
  return { runs: Object.fromEntries(runs.map(({ payload }) => [payload['name'], payload])), signals }
}

it('records the result of every poll, and stores no invalid signal', async () => {
  const { runs, signals } = await runsOf(PRODUCERS, { allowPrivate: true, timeoutSeconds: 60 })
  expect(runs).toMatchObject({
    huge: { health: 'error', error: 'the response is larger than 1048576 bytes', events_published: 0 },
    invalid: {
      health: 'ok',
      error: '1 of 2 items skipped; item 0: payload.whale_netflow must be a number',
      rejected: [{ index: 0, reason: expect.stringContaining('whale_netflow') as string }],
      events_published: 1,
    },
    sloppy: { health: 'ok', error: null, events_published: 1 },
    redirects: { health: 'error', error: 'HTTP 302: redirects are not followed', events_published: 0 },
  })
  // Symbols are stored as they were spelt.
  const symbols = signals.map(({ source, payload }) => [source, payload['symbol']])
  expect(Object.fromEntries(symbols)).toEqual({ invalid: 'BTC', sloppy: ' btc/usdt ' })
})

it('records a producer that does not answer in time', async () => {
  const { runs } = await runsOf({ hangs: NOTHING }, { allowPrivate: true, timeoutSeconds: 1 })
  expect(runs).toMatchObject({
    hangs: { health: 'error', error: 'no complete response within 1000 ms', events_published: 0 },
  })
})

it('records that an address of the own network was not polled', async () => {
  const { runs, signals } = await runsOf(PRODUCERS, { allowPrivate: false, timeoutSeconds: 60 })
  for (const name of Object.keys(PRODUCERS)) {
    expect(runs[name]).toMatchObject({ health: 'degraded', error: 'endpoint blocked: loopback address' })
  }
  expect(signals).toEqual([])
})

it('does not replay a file by the clock of the machine: it asks for a restart', async () => {
  const said: string[] = []
  const timer = createManualTimer(BEGIN_MS)
  const clock = createSystemClock(() => timer.now())
  const engine = await Engine.open({
    log: new MemoryLog(),
    signer: testSigner(),
    clock,
    snapshotEveryEvents: 1000,
    onError: NOTHING,
  })
  const openWith = (feed: 'file' | 'none', replay: ReplayTime | null) =>
    openMarket({
      environment: { ...environmentOf(tmpdir(), {}, 'test'), clock },
      engine,
      configuration: () => ({
        ...DEFAULT_CONFIGURATION,
        market: { ...DEFAULT_CONFIGURATION.market, feed, file: 'bars.csv' },
      }),
      logger: { ...LOGGER, error: (message) => void said.push(message) },
      timer,
      replay,
    })
  for (const market of [await openWith('file', null), await openWith('none', new ReplayTime(0))]) {
    expect(market.feedStatus()).toBeNull()
    await market.close()
  }
  expect(said).toEqual(
    Array.from({ length: 2 }, () => expect.stringContaining('restart the service') as string),
  )
  await engine.close()
})
