import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { expect, it } from 'vitest'
import { testSigner } from '../../test/parts.ts'
import { createSystemClock } from '../adapters/platform/clock/system-clock.ts'
import { answering } from '../adapters/producers/http-poll/servers.fixture.ts'
import { MemoryLog } from '../adapters/storage/memory/memory-log.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import { stampedFrom } from '../core/log/event.ts'
import { Engine } from '../engine/engine.ts'
import { createManualTimer } from '../ports/manual-timer.fixture.ts'
import { openMarket } from './market.ts'
import { environmentOf } from './environment.ts'

const BEGIN_MS = Date.parse('2026-02-20T00:00:58.500Z')

const NO_WORDS = () => {}
const LOGGER = { debug: NO_WORDS, info: NO_WORDS, warn: NO_WORDS, error: NO_WORDS }

const telling =
  (...items: readonly object[]): RequestListener =>
  (_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(items))
  }

const onchain = (payload: object) => ({ type: 'signal.onchain.v1', payload })

const PRODUCERS: Readonly<Record<string, RequestListener>> = {
  hangs: NO_WORDS,
  huge: (_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(`[${'1,'.repeat(5 * 1024 * 1024)}1]`)
  },
  lies: telling(
    onchain({ symbol: 'BTC', whale_netflow: 'much' }),
    onchain({ symbol: 'BTC', whale_netflow: 1 }),
  ),
  mumbles: telling(onchain({ symbol: ' btc/usdt ', whale_netflow: 1e6 })),
  sends: (_request, response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
}

/** What the log says of each run after one turn of all producers. */
const runsOf = async (allowPrivate: boolean) => {
  const timer = createManualTimer(BEGIN_MS)
  const clock = createSystemClock(() => timer.now())
  const engine = await Engine.open({
    log: new MemoryLog(),
    signer: testSigner(),
    clock,
    snapshotEveryEvents: 1000,
    onError: NO_WORDS,
  })
  const producers = {
    ...DEFAULT_CONFIGURATION.producers,
    allow_private_endpoints: allowPrivate,
    poll_timeout_seconds: 1,
  }
  const market = await openMarket({
    surroundings: { ...environmentOf(tmpdir(), {}, 'test'), clock },
    engine,
    configuration: () => ({ ...DEFAULT_CONFIGURATION, producers }),
    logger: LOGGER,
    timer,
  })
  for (const [name, listener] of Object.entries(PRODUCERS)) {
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
  const count = Object.keys(PRODUCERS).length
  await expect.poll(async () => (await read('producer.run.v1')).length).toBe(count)
  const runs = await read('producer.run.v1')
  const signals = await read('signal.onchain.v1')
  await market.close()
  await engine.close()
  return { runs: Object.fromEntries(runs.map(({ payload }) => [payload['name'], payload])), signals }
}

it('records what became of every poll, and lets nothing bad in', async () => {
  const { runs, signals } = await runsOf(true)
  expect(runs).toMatchObject({
    hangs: { health: 'error', error: 'no complete response within 1000 ms', events_published: 0 },
    huge: { health: 'error', error: 'the response is larger than 1048576 bytes', events_published: 0 },
    lies: {
      health: 'ok',
      error: '1 of 2 items skipped; item 0: payload.whale_netflow must be a number',
      rejected: [{ index: 0, reason: expect.stringContaining('whale_netflow') as string }],
      events_published: 1,
    },
    mumbles: { health: 'ok', error: null, events_published: 1 },
    sends: { health: 'error', error: 'HTTP 302: redirects are not followed', events_published: 0 },
  })
  // Symbols are kept as they were spelt; they mean the same to the brain.
  const said = signals.map(({ source, payload }) => [source, payload['symbol']])
  expect(Object.fromEntries(said)).toEqual({ lies: 'BTC', mumbles: ' btc/usdt ' })
})

it('records that an address of our own network was not asked', async () => {
  const { runs, signals } = await runsOf(false)
  for (const name of Object.keys(PRODUCERS)) {
    expect(runs[name]).toMatchObject({ health: 'degraded', error: 'endpoint blocked: loopback address' })
  }
  expect(signals).toEqual([])
})
