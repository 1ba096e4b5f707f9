import { expect, it } from 'vitest'
import { createMemoryExchange } from '../../test/simulation/memory-exchange.fixture.ts'
import { testClock } from '../../test/signer.fixture.ts'
import { memoryLeadership } from '../adapters/storage/memory/memory-leadership.ts'
import { MemoryStore } from '../adapters/storage/memory/memory-store.ts'
import { MemoryLog } from '../adapters/storage/memory/memory-log.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import { openEngine } from '../engine/engine.fixture.ts'
import { StoreUnavailableError } from '../ports/event-log.ts'
import type { Engine } from '../engine/engine.ts'
import type { LogFields } from '../ports/logger.ts'
import type { Leadership } from '../ports/leadership.ts'
import type { MarketFeed } from '../ports/market-feed.ts'
import { type ManualTimer, createManualTimer, passTime, settle } from '../ports/manual-timer.fixture.ts'
import { openDrivers } from './drivers.ts'
import { Closers } from './environment.ts'

const CONFIGURATION = {
  ...DEFAULT_CONFIGURATION,
  execution: { ...DEFAULT_CONFIGURATION.execution, mode: 'live', venue: 'binanceusdm-sandbox' },
} as const

const IDLE_FEED: MarketFeed = {
  name: 'file',
  producers: [],
  start: () => Promise.resolve(),
  status: () => ({ state: 'running', lastBarAtMs: null, clockOffsetMs: null, error: null }),
  stop: () => Promise.resolve(),
}

const dependenciesOf = (engine: Engine, timer: ManualTimer, said: string[]) => {
  const say = (message: string): void => void said.push(message)
  const exchange = createMemoryExchange(() => timer.now())
  return {
    environment: {
      home: '',
      variables: {},
      clock: testClock(),
      time: { now: () => timer.now(), wallNow: () => timer.now(), slew: () => undefined },
      version: 'test',
      insecureOk: false,
      devMode: false,
      masterPassword: undefined,
    },
    engine,
    configuration: () => CONFIGURATION,
    logger: { debug: () => undefined, info: say, warn: say, error: say },
    timer,
    onSecrets: () => undefined,
    openBroker: () => Promise.resolve({ status: 'open', broker: exchange, secrets: [] } as const),
  }
}

it('a leader whose store is away with its lease stops, stays up, and leads again', async () => {
  const timer = createManualTimer(Date.parse('2026-02-20T00:30:00.000Z'))
  const store = new MemoryStore()
  const log = new MemoryLog(store)
  let isAway = false
  const engine = await openEngine(
    new Proxy(log, {
      get: (target, name) => {
        if (isAway && name === 'head') return () => Promise.reject(new StoreUnavailableError('away'))
        const member: unknown = Reflect.get(target, name, target)
        return typeof member === 'function' ? member.bind(target) : member
      },
    }),
  )
  const leases: (() => void)[] = []
  const real = memoryLeadership(store)
  const leadership: Leadership = {
    tryToLead: async (above) => {
      const lease = await real.tryToLead(above)
      if (lease === null) return null
      let end = (): void => undefined
      const ended = new Promise<void>((resolve) => {
        end = resolve
      })
      leases.push(end)
      return { ...lease, ended }
    },
    close: () => real.close(),
  }
  const said: string[] = []
  let stoppedFeeds = 0
  const drivers = await openDrivers({
    ...dependenciesOf(engine, timer, said),
    leadership,
    openFeed: () => ({
      ...IDLE_FEED,
      stop: async () => {
        stoppedFeeds += 1
      },
    }),
  })
  await settle()
  isAway = true
  leases[0]?.()
  await settle()
  expect(said).toContain('leadership lost: feeds and order routing stop in this process')
  expect(stoppedFeeds).toBe(1)
  isAway = false
  await passTime(timer, 5000)
  expect(leases.length).toBeGreaterThan(1)
  // Looking for code of the user takes a moment of real time.
  await expect.poll(() => drivers.feedStatus()).toMatchObject({ feed: 'file' })
  const closing = drivers.close()
  await settle()
  await closing
  await engine.close()
})

it('leads under no token that the store cannot have given by itself, and names the repair', async () => {
  const timer = createManualTimer(Date.parse('2026-02-20T00:30:00.000Z'))
  const store = new MemoryStore()
  store.leaderToken = 2 ** 53 - 2
  const engine = await openEngine(new MemoryLog(store))
  const errors: string[] = []
  const { logger, ...dependencies } = dependenciesOf(engine, timer, [])
  const error = (_: string, fields?: LogFields): void => void errors.push(String(fields?.['error']))
  const drivers = await openDrivers({
    ...dependencies,
    logger: { ...logger, error },
    leadership: memoryLeadership(store),
  })
  expect(errors).toEqual([expect.stringContaining('svc doctor --repair')])
  expect([drivers.leads(), engine.state.trading.leaderToken, store.isLed]).toEqual([false, 0, false])
  const closing = drivers.close()
  await settle()
  await closing
  await engine.close()
})

it('stops what it had just begun when it is closed, and gives the lease back', async () => {
  const timer = createManualTimer(Date.parse('2026-02-20T00:30:00.000Z'))
  const store = new MemoryStore()
  const engine = await openEngine(new MemoryLog(store))
  const other = memoryLeadership(store)
  const before = await other.tryToLead(0)
  let stoppedFeeds = 0
  let openVenue = (): void => undefined
  const dependencies = dependenciesOf(engine, timer, [])
  const drivers = await openDrivers({
    ...dependencies,
    leadership: memoryLeadership(store),
    openFeed: () => ({
      ...IDLE_FEED,
      stop: async () => {
        stoppedFeeds += 1
      },
    }),
    openBroker: async () => {
      await new Promise<void>((resolve) => {
        openVenue = resolve
      })
      return dependencies.openBroker()
    },
  })
  await before?.release()
  await passTime(timer, 5000)
  const closing = drivers.close()
  await settle()
  openVenue()
  await settle()
  await closing
  expect(stoppedFeeds).toBe(1)
  expect(await other.tryToLead(0)).not.toBeNull()
  await engine.close()
})

it('closes everything behind what cannot be closed, and says why', async () => {
  const closed: string[] = []
  const closers = new Closers()
  closers.add(async () => void closed.push('first'))
  closers.add(() => Promise.reject(new Error('stuck')))
  closers.add(async () => void closed.push('last'))
  await expect(closers.closeAll()).rejects.toThrow('stuck')
  expect(closed).toEqual(['last', 'first'])
})
