import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createSimulatedFeed } from '../../src/adapters/feeds/simulated/simulated-feed.ts'
import { BUILT_IN_PRODUCERS } from '../../src/adapters/producers/all.ts'
import { RecordedTimer } from '../../src/backtest/recorded-timer.ts'
import { LogFeed } from '../../src/backtest/log-feed.ts'
import { backtest } from '../../src/backtest/run.ts'
import type { BacktestDependencies } from '../../src/backtest/run-dependencies.ts'
import { runDivergence } from '../../src/compose/divergence.ts'
import type { OpenFeed } from '../../src/compose/market.ts'
import { findOwnProducers, ownProducer } from '../../src/compose/strategies.ts'
import type { Configuration } from '../../src/core/config/schema.ts'
import { DEFAULT_CONFIGURATION } from '../../src/core/config/validate.ts'
import type { PayloadOf } from '../../src/core/events/catalogue.ts'
import type { Stamped } from '../../src/core/log/event.ts'
import type { JsonObject } from '../../src/core/shared/json.ts'
import { DAY_MS, timestampAt } from '../../src/core/shared/time.ts'
import { openDirectly } from '../../src/core/strategies/direct.ts'
import { defineStrategy, type ParameterValues } from '../../src/core/strategies/strategy.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { sha256Hex } from '../../src/engine/sha256.ts'
import type { MarketFeed } from '../../src/ports/market-feed.ts'
import type { OpenedStrategy } from '../../src/ports/strategy.ts'
import type { Timer } from '../../src/ports/timer.ts'
import { builtInRun } from '../given.fixture.ts'
import { runService, type RecordedRun, type ServiceRun } from './service-loop.fixture.ts'

const FROM_MS = Date.UTC(2026, 0, 5)
const TO_MS = FROM_MS + DAY_MS / 2
const BAR_SECONDS = 300
/** Old results fade with time, so seconds of delay change the sixth digit of a size. */
const LATENCY = 1e-5
const DEADLINE_MS = DEFAULT_CONFIGURATION.brain.cycle_deadline_seconds * 1000

const settings: Configuration = {
  ...DEFAULT_CONFIGURATION,
  // A simulated bar opens at the close of the previous one, so that fills have the same price.
  market: {
    ...DEFAULT_CONFIGURATION.market,
    feed: 'simulated',
    seed: 2,
    tick_seconds: BAR_SECONDS,
    bar_seconds: BAR_SECONDS,
    // The value that a backtest uses for bars of that length.
    max_mark_age_seconds: 2 * BAR_SECONDS,
  },
  settlement: { ...DEFAULT_CONFIGURATION.settlement, grace_seconds: BAR_SECONDS },
  universe: { ...DEFAULT_CONFIGURATION.universe, symbols: ['BTC', 'ETH'] },
  brain: {
    ...DEFAULT_CONFIGURATION.brain,
    cycle_interval_seconds: BAR_SECONDS,
    min_domains: 2,
    tiers: [53, 60, 75],
  },
  // Losses do not stop the trading early.
  kill_switch: { ...DEFAULT_CONFIGURATION.kill_switch, l1_daily_loss_pct: 1, l2_loss_streak: 0 },
  risk: { ...DEFAULT_CONFIGURATION.risk, daily_loss_limit_pct: 0 },
  // Close stops and targets give many short trades.
  execution: { ...DEFAULT_CONFIGURATION.execution, stop_loss_pct: 0.012, take_profit_pct: 0.012 },
}

/** The simulated feed with delayed bars. Only bars are delivered, as in a backtest. */
const barsAfter =
  (
    delayMsOf: (closeMs: number) => number,
    onStored: (closeMs: number) => Promise<void> = () => Promise.resolve(),
  ): OpenFeed =>
  ({ market }, timer) => {
    const feed = createSimulatedFeed({ settings: market, timer, sha256Hex })
    const { signal } = new AbortController()
    return {
      ...feed,
      start: (from, listener) =>
        feed.start(from, {
          ...listener,
          onTick: () => undefined,
          onBars: async (bars) => {
            const [first] = bars
            if (first?.backfill !== false) return listener.onBars(bars)
            const closeMs = Date.parse(first.close_ts)
            await timer.wait(delayMsOf(closeMs), signal)
            await listener.onBars(bars)
            await onStored(closeMs)
          },
        }),
    }
  }

const live = (
  delayMsOf: (closeMs: number) => number,
  changes: Partial<ServiceRun> = {},
): Promise<RecordedRun> =>
  runService({ settings, fromMs: FROM_MS, toMs: TO_MS, openFeed: barsAfter(delayMsOf), ...changes })

/** Submits signals from outside at any time, including while a cycle waits for its bar. */
const sayBetweenBars = async (engine: Engine, timer: Timer): Promise<void> => {
  const { signal } = new AbortController()
  const talk = async (): Promise<void> => {
    for (let index = 0; timer.now() < TO_MS; index += 1) {
      await timer.wait(index % 2 === 0 ? 301_300 : 177_700, signal)
      const score = (index * 7) % 11
      const payload = {
        symbol: index % 3 === 0 ? 'ETH' : 'BTC',
        score,
        direction: 'bullish',
        source_count: 1,
      }
      const ts = timestampAt(timer.now())
      await engine.execute(builtInRun('market-sentiment', 'signal.social.v1', payload, { ts }))
    }
  }
  talk().catch(() => undefined)
}

const replayed = async (
  feed: MarketFeed,
  changes: Partial<BacktestDependencies> = {},
): Promise<readonly Stamped[]> => {
  const events: Stamped[] = []
  await backtest({
    strategy: 'brain',
    feed,
    producers: [],
    settings,
    version: 'test',
    fromMs: FROM_MS,
    toMs: TO_MS,
    resetsDaily: false,
    onError: (message) => {
      throw new Error(message)
    },
    onEvents: (some) => events.push(...some),
    ...changes,
  })
  return events
}

const ofType = (events: readonly Stamped[], type: string): readonly Stamped[] =>
  events.filter((event) => event.type === type)

/** Ids of events differ between two runs with equal decisions. Everything else must be equal. */
const withoutIds = (payload: JsonObject): JsonObject =>
  JSON.parse(
    JSON.stringify(payload, (name, value: unknown) => (ID_MEMBERS.has(name) ? undefined : value)),
  ) as JsonObject

const ID_MEMBERS = new Set([
  'conviction_id',
  'signal_id',
  'signal_ids',
  'intent_id',
  'order_id',
  'position_id',
  'contributors',
])

const payloadsOf = (events: readonly Stamped[], type: string, keep: (payload: JsonObject) => JsonObject) =>
  ofType(events, type).map(({ payload }) => keep(payload))

const cyclesIn = (events: readonly Stamped[]): readonly PayloadOf<'brain.cycle.v1'>[] =>
  ofType(events, 'brain.cycle.v1').map(({ payload }) => payload as unknown as PayloadOf<'brain.cycle.v1'>)

/**
 * Events between start and end: a service does not decide at the time of its start, and a backtest does not at the
 * close of its last bar, which has no next open.
 */
const between = (events: readonly Stamped[]): readonly Stamped[] => {
  const others = new Set(
    cyclesIn(events)
      .filter(({ as_of = '' }) => !(Date.parse(as_of) > FROM_MS && Date.parse(as_of) < TO_MS))
      .map(({ cycle_id }): unknown => cycle_id),
  )
  return events.filter(({ ts, payload }) => Date.parse(ts) < TO_MS && !others.has(payload['cycle_id']))
}

const decisionsIn = (events: readonly Stamped[]) => {
  const decided = between(events)
  return {
    convictions: payloadsOf(decided, 'brain.conviction.v1', withoutIds),
    intents: payloadsOf(decided, 'execution.trade_intent.v1', withoutIds),
    fills: payloadsOf(decided, 'execution.order_filled.v1', ({ fill_price, fill_size, side }) => ({
      fill_price: fill_price ?? null,
      fill_size: fill_size ?? null,
      side: side ?? null,
    })),
    closes: payloadsOf(
      decided,
      'execution.position_closed.v1',
      ({ exit_reason, exit_price, realized_pnl }) => ({
        exit_reason: exit_reason ?? null,
        exit_price: exit_price ?? null,
        realized_pnl: realized_pnl ?? null,
      }),
    ),
  }
}

/** True if two values are equal, except for numbers that differ by less than this part. */
const isNear = (one: unknown, other: unknown, part: number): boolean => {
  if (typeof one === 'number' && typeof other === 'number')
    return Math.abs(one - other) <= part * Math.max(1, Math.abs(one))
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null)
    return one === other
  const [names, otherNames] = [Object.keys(one), Object.keys(other)]
  return (
    names.join() === otherNames.join() &&
    names.every((name) => isNear(one[name as never], other[name as never], part))
  )
}

/** The members in which two lists differ, with both values: short enough to read. */
const differences = (
  ones: readonly JsonObject[],
  others: readonly JsonObject[],
  part = 0,
): readonly string[] => {
  const found = ones.length === others.length ? [] : [`${ones.length} and ${others.length}`]
  for (const [index, one] of ones.entries()) {
    const other = others[index] ?? {}
    for (const name of Object.keys({ ...one, ...other })) {
      // The member is a digest of the numbers.
      if (isNear(one[name], other[name], part) || (part > 0 && name === 'commitment_hash')) continue
      found.push(`${index} ${name}: ${JSON.stringify(one[name])} and ${JSON.stringify(other[name])}`)
    }
  }
  return found.slice(0, 12)
}

const expectSameDecisions = (
  events: readonly Stamped[],
  expected: readonly Stamped[],
  part: number,
): void => {
  const [these, those] = [decisionsIn(events), decisionsIn(expected)]
  for (const kind of ['convictions', 'intents', 'fills', 'closes'] as const) {
    expect(differences(these[kind], those[kind], part)).toEqual([])
  }
}

describe('a service and a backtest on the same bars', { timeout: 600_000 }, () => {
  let fromBacktest: readonly Stamped[]

  beforeAll(async () => {
    const feed = createSimulatedFeed({
      settings: settings.market,
      timer: new RecordedTimer(FROM_MS),
      sha256Hex,
    })
    fromBacktest = await replayed(feed, { producers: BUILT_IN_PRODUCERS })
  })

  it.each([
    ['at once', () => 0, 0],
    ['a little later', (closeMs: number) => 200 + ((closeMs / 60_000) % 7) * 400, LATENCY],
  ])('decide and trade alike, with bars that arrive %s', async (_when, delayMsOf, part) => {
    const { events, warnings } = await live(delayMsOf)
    expect(warnings).toEqual([])
    const expected = decisionsIn(fromBacktest)
    expect(expected.convictions.length).toBeGreaterThan(270)
    expect(expected.fills.length).toBeGreaterThan(4)
    expectSameDecisions(events, fromBacktest, part)
    const awaited = cyclesIn(events).map((cycle) => cycle.awaited)
    expect(awaited.every((one) => one?.bar === 'stored' && one.late_producers.length === 0)).toBe(true)
    expect(awaited.some((one) => one?.producers.includes('technical-analysis'))).toBe(true)
  })

  it('differ where cycles do not wait for their bar and its producers', async () => {
    const hasty = { ...settings, brain: { ...settings.brain, cycle_deadline_seconds: 0 } }
    const { events } = await live(() => 0, { settings: hasty, toMs: FROM_MS + DAY_MS / 8 })
    const { convictions } = decisionsIn(events)
    expect(convictions.length).toBeGreaterThan(60)
    const expected = decisionsIn(fromBacktest).convictions.slice(0, convictions.length)
    const directions = (all: readonly JsonObject[]) => all.map(({ direction }) => direction)
    expect(differences(convictions, expected, LATENCY)).not.toEqual([])
    expect(directions(convictions)).not.toEqual(directions(expected))
  })
})

describe('a producer of the user', { timeout: 600_000 }, () => {
  const NAME = 'swings'
  const toMs = FROM_MS + DAY_MS / 4
  /** A producer that reads prices and the time, and keeps earlier prices. */
  const CODE = `
    let before = new Map()
    export default {
      name: '${NAME}',
      domain: 'social',
      schedule: '*/10 * * * *',
      run: ({ asOfMs, symbols }) => {
        const prices = new Map(symbols.map(({ symbol, close }) => [symbol, Number(close)]))
        const rows = symbols.flatMap(({ symbol }) => {
          const rise = prices.get(symbol) / (before.get(symbol) ?? prices.get(symbol)) - 1
          const score = 5 + Math.min(4, Math.abs(rise) * 2000) + (asOfMs % 3_600_000 === 0 ? 0.5 : 0)
          const direction = rise < 0 ? 'bearish' : 'bullish'
          return [{ type: 'signal.social.v1', payload: { symbol, score, direction, source_count: 3 } }]
        })
        before = prices
        return { status: 'ran', rows }
      },
    }
  `
  let home: string
  let fromBacktest: readonly Stamped[]

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'own-producer-'))
    await mkdir(join(home, 'producers'))
    await writeFile(join(home, 'producers', `${NAME}.js`), CODE)
    const code = { home, isBacktest: true, onOutput: () => undefined }
    const feed = createSimulatedFeed({
      settings: settings.market,
      timer: new RecordedTimer(FROM_MS),
      sha256Hex,
    })
    fromBacktest = await replayed(feed, {
      producers: BUILT_IN_PRODUCERS,
      toMs,
      ownProducers: {
        names: (await findOwnProducers(home)).map(({ name }) => name),
        open: (name) => ownProducer(name, code),
      },
    })
  })
  afterAll(() => rm(home, { recursive: true }))

  const spokenIn = (events: readonly Stamped[]): readonly JsonObject[] =>
    events
      .filter(({ source, type }) => source === NAME && type === 'signal.social.v1')
      .map(({ ts, payload }) => ({ ts, ...withoutIds(payload) }))

  /** The shared time stands still while the producer's thread runs, because the feed does not wait for the timer then. */
  const liveWithCode = (delayMsOf: (closeMs: number) => number): Promise<RecordedRun> => {
    let engine: Engine | null = null
    const ranAtMs = (): number =>
      Date.parse(engine?.state.signals.producers.runs.get(NAME)?.lastRunAt ?? '1970-01-01')
    const openFeed = barsAfter(delayMsOf, async (closeMs) => {
      // The producer also runs on its first bar.
      const isDue = closeMs % 600_000 === 0 || ranAtMs() === 0
      while (isDue && ranAtMs() < closeMs) await new Promise(setImmediate)
    })
    const onOpened = (opened: Engine): Promise<void> => {
      engine = opened
      return Promise.resolve()
    }
    return runService({ settings, fromMs: FROM_MS, toMs, openFeed, home, onOpened })
  }

  it.each([
    ['at once', () => 0, 0],
    ['a little later', (closeMs: number) => 200 + ((closeMs / 60_000) % 7) * 400, LATENCY],
  ])(
    'says the same in a service as in a backtest, and all is decided alike, with bars that arrive %s',
    async (_when, delayMsOf, part) => {
      const { events, warnings } = await liveWithCode(delayMsOf)
      expect(warnings).toEqual([])
      expect(spokenIn(fromBacktest).length).toBeGreaterThan(60)
      expect(differences(spokenIn(events), spokenIn(fromBacktest))).toEqual([])
      const expected = decisionsIn(fromBacktest)
      expect(expected.convictions.length).toBeGreaterThan(130)
      expect(expected.fills.length).toBeGreaterThan(2)
      expectSameDecisions(events, fromBacktest, part)
      const awaited = cyclesIn(events).map((cycle) => cycle.awaited)
      expect(awaited.some((one) => one?.producers.includes(NAME))).toBe(true)
      expect(awaited.flatMap((one) => one?.late_producers ?? [])).toEqual([])
    },
  )
})

/** Enters, reverses and leaves by the number of the bar. */
const TURNS = defineStrategy({
  name: 'turns',
  parameters: z.object({}),
  timeframes: ['5m'],
  warmUpBars: 0,
  create: ({ symbol }) => {
    let bars = symbol === 'BTC' ? 0 : 1
    return {
      onBar: () => {
        bars += 1
        const levels = { size: 0.02, stop: { percent: 5 }, target: null, reason: `bar ${bars}` }
        if (bars % 6 === 0) return { side: 'long', ...levels }
        if (bars % 6 === 2) return { side: 'short', ...levels }
        return bars % 6 === 5 ? { side: 'flat' } : null
      },
    }
  },
})

const beside: Configuration = {
  ...settings,
  strategies: { [TURNS.name]: { enabled: true, parameters: {}, symbols: [] } },
}

const BESIDE_TO_MS = FROM_MS + DAY_MS / 8

/**
 * A service with the brain and a strategy. The feed goes on when the cycle of its bars has decided and the strategy has
 * answered, which it does `answerDelayMs` after the bar was stored.
 */
const liveBeside = (barDelayMs: number, answerDelayMs: number): Promise<RecordedRun> => {
  let decidedMs = 0
  let answeredMs = 0
  let answer: () => void = () => undefined
  const { signal } = new AbortController()
  let wait = (_ms: number): Promise<void> => Promise.resolve()
  const openFeed = barsAfter(
    () => barDelayMs,
    async (closeMs) => {
      await wait(answerDelayMs)
      answer()
      while (closeMs < BESIDE_TO_MS && (decidedMs < closeMs || answeredMs < closeMs))
        await new Promise(setImmediate)
    },
  )
  const open = (_name: string, parameters: ParameterValues): Promise<OpenedStrategy> => {
    const run = openDirectly(TURNS, parameters, { analysisSeconds: () => BAR_SECONDS })
    const { decide } = run
    const decideLate: OpenedStrategy['decide'] = async (facts) => {
      await new Promise<void>((resolve) => {
        answer = resolve
      })
      return decide(facts)
    }
    const close = (): Promise<void> => Promise.resolve()
    return Promise.resolve(Object.assign(run, { close, decide: answerDelayMs === 0 ? decide : decideLate }))
  }
  return live(() => 0, {
    settings: beside,
    toMs: BESIDE_TO_MS,
    openFeed,
    openStrategy: open,
    onOpened: (engine, timer) => {
      wait = (ms) => timer.wait(ms, signal)
      engine.eventBus.subscribe(({ events }) => {
        for (const { as_of = '' } of cyclesIn(events)) decidedMs = Math.max(decidedMs, Date.parse(as_of))
        for (const { source, ts } of ofType(events, 'producer.run.v1'))
          if (source === TURNS.name) answeredMs = Math.max(answeredMs, Date.parse(ts))
      })
      return Promise.resolve()
    },
  })
}

describe('a run through the log of a service', { timeout: 600_000 }, () => {
  it('makes the same convictions, bit for bit, also of signals that came while a cycle waited', async () => {
    const { events, log } = await live(() => 2300, { onOpened: sayBetweenBars, parties: 3 })
    // The first cycle of the service is a bar after its start.
    const again = await replayed(new LogFeed(log, DEADLINE_MS), { fromMs: FROM_MS + BAR_SECONDS * 1000 })
    const [recorded, repeated] = [events, again].map((all) =>
      ofType(between(all), 'brain.conviction.v1').map(({ payload }) => payload),
    )
    expect(recorded?.length).toBeGreaterThan(270)
    expect(differences(repeated ?? [], recorded ?? [])).toEqual([])
    expectSameDecisions(again, events, LATENCY)
    const spoken = ofType(events, 'signal.social.v1').filter(({ source }) => source === 'market-sentiment')
    expect(spoken.some(({ ts }) => Date.parse(ts) % 300_000 > 0 && Date.parse(ts) % 300_000 < 2300)).toBe(
      true,
    )
  })

  // The service has its first cycle a bar after its start. Answers after a deadline are filled at the price of a bar before.
  it.each([
    ['before the cycle', 0, 0, FROM_MS + BAR_SECONDS * 1000],
    ['before the cycle, with bars that arrive a little later', 2300, 0, FROM_MS + BAR_SECONDS * 1000],
    ['after the deadline of the cycle', 0, DEADLINE_MS + 5000, FROM_MS],
  ])(
    'makes the same decisions, with a strategy that answers %s',
    async (_when, barDelayMs, answerDelayMs, fromMs) => {
      const { events, log, warnings } = await liveBeside(barDelayMs, answerDelayMs)
      expect(warnings).toEqual([])
      const again = await replayed(new LogFeed(log, DEADLINE_MS), {
        settings: beside,
        fromMs,
        toMs: BESIDE_TO_MS,
      })
      const [recorded, repeated] = [events, again].map((all) =>
        between(all).filter(({ ts }) => Date.parse(ts) > fromMs && Date.parse(ts) < BESIDE_TO_MS),
      )
      expectSameDecisions(repeated ?? [], recorded ?? [], LATENCY)
      const { convictions, closes } = decisionsIn(recorded ?? [])
      expect(convictions.length).toBeGreaterThan(60)
      expect(closes.filter(({ exit_reason }) => exit_reason === 'bias_flip').length).toBeGreaterThan(3)
      const intents = ofType(recorded ?? [], 'execution.trade_intent.v1')
      const ofStrategy = intents.filter(({ source }) => source === TURNS.name)
      expect(ofStrategy.length).toBeGreaterThan(5)
      expect(ofStrategy.length).toBeLessThan(intents.length)
      expect(ofStrategy.map(({ payload }) => payload['reason'])).toContain('bar 6')

      const report = await runDivergence(
        beside,
        { onError: (message) => expect.fail(message), onProgress: () => undefined },
        { log, version: 'test' },
      )
      expect(report.live_trades).toBeGreaterThan(ofStrategy.length)
      expect(report.replayed_trades).toBe(report.live_trades)
      expect(report.rows.filter((row) => row.live === null || row.replayed === null)).toEqual([])
      expect(Math.abs(report.difference_usd)).toBeLessThan(0.001)
    },
  )

  it('tells which cycles had no bar: those decided on what was known at their deadline', async () => {
    const isLate = (closeMs: number): boolean => closeMs % 3_600_000 === 0
    const { events } = await live((closeMs) => (isLate(closeMs) ? 20_000 : 0))
    const cycles = cyclesIn(events)
    const late = cycles.filter(({ awaited }) => awaited?.bar === 'late')
    expect(late.length).toBeGreaterThan(10)
    for (const { as_of = '', started_at, awaited } of late) {
      const asOfMs = Date.parse(as_of)
      expect(isLate(asOfMs)).toBe(true)
      expect(Date.parse(started_at)).toBe(asOfMs + DEADLINE_MS)
      expect(awaited?.late_producers).toContain('technical-analysis')
    }
    expect(cycles.length).toBeGreaterThan(140)
  })
})
