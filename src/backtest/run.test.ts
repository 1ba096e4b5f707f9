import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createHistoryFeed } from '../adapters/feeds/history/history-feed.ts'
import { createSystemTimer } from '../adapters/platform/timer/system-timer.ts'
import { BUILT_IN_PRODUCERS } from '../adapters/producers/all.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import type { Stamped } from '../core/log/event.ts'
import type { FeedBar } from '../core/market/bar.ts'
import { barAt } from '../core/market/bars.fixture.ts'
import type { HistoryBar } from '../core/market/history/series.ts'
import { openDirectly } from '../core/strategies/direct.ts'
import { defineStrategy } from '../core/strategies/strategy.ts'
import { STRATEGY_NAMES, type StrategyName } from './strategies.ts'
import { backtest, NoBarsError, WARM_UP_BARS } from './run.ts'
import { runBacktest, RecordedBarsFeed } from './recorded-feed.fixture.ts'

const BEGIN_MS = Date.UTC(2026, 0, 1)
const QUARTER_S = 900

const timeOf = (index: number): string => new Date(BEGIN_MS + index * QUARTER_S * 1000).toISOString()

const bar = (index: number, close = 100, changes: Partial<FeedBar> = {}): FeedBar =>
  barAt(timeOf(index), close, { resolution_s: QUARTER_S, ...changes })

const historyBar = (index: number): HistoryBar => {
  const { open, high, low, close, volume } = bar(index)
  return { openMs: BEGIN_MS + index * QUARTER_S * 1000, open, high, low, close, volume }
}

/** Warm-up bars of a market that stands still. */
const quiet = (count = WARM_UP_BARS): readonly (readonly FeedBar[])[] =>
  Array.from({ length: count }, (_, index) => [bar(index)])

const FIRST = WARM_UP_BARS

describe('a trade', () => {
  it('is decided at the close of a bar and filled at the open of the next one', async () => {
    const { ofType } = await runBacktest([...quiet(), [bar(FIRST, 104, { open: 103, high: 105, low: 102 })]])
    const [filled] = ofType('execution.order_filled.v1')
    // The close was 100; the open is 103, and buying costs 5 basis points more.
    expect(filled?.payload).toMatchObject({ fill_price: 103.0515 })
    expect(filled?.recordedAt).toBe(timeOf(FIRST))
  })

  it('has its stop and target at the prices that were asked for, whatever the open', async () => {
    const levels = defineStrategy({
      name: 'levels',
      parameters: z.object({}),
      warmUpBars: 0,
      create: () => ({
        onBar: ({ position }) =>
          position === null ? { side: 'long', stop: { price: 95 }, target: { price: 130 } } : null,
      }),
    })
    const own = () =>
      openDirectly(levels, {}, { analysisSeconds: () => QUARTER_S, tradesPast: true }) as never
    const at = (open: number) =>
      runBacktest([...quiet(), [bar(FIRST, open, { open, high: open, low: open })]], {
        strategy: 'levels',
        own: own(),
        execution: { max_entry_drift_pct: 0.9 },
      })
    const { ofType } = await at(110)
    expect(ofType('execution.position_opened.v1')[0]?.payload).toMatchObject({
      stop_loss: 95,
      take_profit: 130,
    })
    const beyond = await at(94)
    expect(beyond.ofType('execution.position_opened.v1')).toEqual([])
    expect(beyond.result.account.heldBack).toEqual({ stop_passed: 1 })
  })

  it('leaves at the next open where its trailing stop has passed the close', async () => {
    const trailing = defineStrategy({
      name: 'trailing',
      parameters: z.object({}),
      warmUpBars: 0,
      create: () => ({
        onBar: ({ bar: { openMs } }) =>
          openMs < Date.parse(timeOf(FIRST))
            ? { side: 'long', stop: { percent: 5, trailing: true }, target: null }
            : null,
      }),
    })
    const groups = [
      ...quiet(),
      [bar(FIRST, 100, { open: 100, high: 100, low: 100 })],
      // The high moves the stop to 104.5, above the close.
      [bar(FIRST + 1, 102, { open: 100, high: 110, low: 100 })],
      [bar(FIRST + 2, 101, { open: 101, high: 101, low: 101 })],
    ]
    for (const isQuiet of [true, false]) {
      const { result } = await runBacktest(groups, {
        strategy: 'trailing',
        own: openDirectly(trailing, {}, { analysisSeconds: () => QUARTER_S, tradesPast: true }) as never,
        ...(isQuiet ? { onEvents: undefined as never } : {}),
      })
      const [trade] = result.account.trades
      // The open is 101, and selling costs 5 basis points.
      expect(trade).toMatchObject({ exit_reason: 'stop_loss', closed_at: timeOf(FIRST + 2) })
      expect(trade?.exit_price).toBeCloseTo(100.9495, 4)
    }
  })

  it('pays for slippage and fees on both sides', async () => {
    const groups = [...quiet(), [bar(FIRST)], [bar(FIRST + 1, 100, { low: 50 })]]
    const { result, ofType } = await runBacktest(groups)
    const [closed] = ofType('execution.position_closed.v1')
    expect(closed?.payload).toMatchObject({ exit_reason: 'stop_loss' })
    expect(result.account.trades).toEqual([
      {
        symbol: 'BTC',
        direction: 'long',
        opened_at: timeOf(FIRST),
        closed_at: timeOf(FIRST + 2),
        entry_price: 100.05,
        exit_price: expect.closeTo(95, 1),
        quantity: 4.99750124,
        size_usd: expect.closeTo(500, 0),
        equity_share: 0.05,
        regime: 'TRANSITION',
        gross_usd: closed?.payload['gross_pnl'],
        fees_usd: closed?.payload['fees_usd'],
        funding_usd: 0,
        net_usd: closed?.payload['realized_pnl'],
        net_return: closed?.payload['realized_pnl_pct'],
        exit_reason: 'stop_loss',
        // The bar fell to 50 after the stop had ended the trade.
        max_adverse_excursion: 0.050475,
        max_favorable_excursion: 0,
        why: {
          by: 'always_long',
          rationale: 'always_long: long BTC',
          conviction: 75,
          size_pct: 0.05,
          stop_loss_pct: 0.05,
          take_profit_pct: expect.any(Number),
          limits: expect.objectContaining({ size_pct: 500 }),
          sizing: expect.objectContaining({ bound_by: ['size_pct'], evidence_trades: 0 }),
          case: null,
          inputs: [],
          inputs_left_out: 0,
        },
      },
    ])
    expect(result.account.fees).toBeGreaterThan(0.5)
    expect(result.account.days.at(-1)).toBeLessThan(10_000 - result.account.fees)
  })

  it('may be stopped in the very bar that it began with', async () => {
    const { ofType } = await runBacktest([...quiet(), [bar(FIRST, 99, { low: 90 })]])
    const [opened] = ofType('execution.position_opened.v1')
    const [closed] = ofType('execution.position_closed.v1')
    expect(opened?.recordedAt).toBe(timeOf(FIRST))
    expect(closed?.recordedAt).toBe(timeOf(FIRST + 1))
    expect(closed?.payload).toMatchObject({ exit_reason: 'stop_loss' })
  })

  it('never happens in the warm-up', async () => {
    const { result, ofType } = await runBacktest(quiet())
    expect(result).toMatchObject({ bars: 0, firstOpenMs: null, openPositions: 0 })
    expect(ofType('execution.trade_intent.v1')).toEqual([])
    const longer = await runBacktest([...quiet(), [bar(FIRST)]])
    expect(longer.result).toMatchObject({ bars: 1, openPositions: 1 })
    expect(longer.result.firstOpenMs).toBe(Date.parse(timeOf(FIRST)))
  })

  it('does not happen in what does not open', async () => {
    const both = (index: number) => [bar(index), bar(index, 50, { symbol: 'ETH' })]
    const groups = [
      ...Array.from({ length: WARM_UP_BARS }, (_, index) => both(index)),
      [bar(FIRST)],
      both(FIRST + 1),
      both(FIRST + 2),
    ]
    const { ofType } = await runBacktest(groups)
    const opened = ofType('execution.position_opened.v1').map(({ recordedAt, payload }) => [
      payload['asset'],
      recordedAt,
    ])
    // ETH had no bar at the first open. Its decision waits for the next one.
    expect(opened).toEqual([
      ['BTC', timeOf(FIRST)],
      ['ETH', timeOf(FIRST + 1)],
    ])
    expect(ofType('execution.order_failed.v1')).toEqual([])
  })

  it('is reported if its symbol has no bar after the decision', async () => {
    const both = (index: number) => [bar(index), bar(index, 50, { symbol: 'ETH' })]
    const groups = Array.from({ length: WARM_UP_BARS }, (_, index) => both(index))
    const only = [bar(FIRST), bar(FIRST + 1), bar(FIRST + 2)].map((one) => [one])
    const { result } = await runBacktest([...groups, ...only])
    expect(result.account.heldBack).toEqual({ no_next_bar: 1 })
  })
})

describe('a series with gaps', () => {
  const DAY_S = 86_400
  /** 320 working days with a wave of 13 days, so that crossings fall on every day of the week. */
  const closes = Array.from({ length: 320 }, (_, index) => 100 + 8 * Math.sin((2 * Math.PI * index) / 13))
  const dayBar = (close: number, index: number, day: number): readonly FeedBar[] => [
    barAt(new Date(Date.UTC(2024, 0, 1) + day * DAY_S * 1000).toISOString(), close, {
      resolution_s: DAY_S,
      open: closes[index - 1] ?? close,
    }),
  ]
  const contiguous = closes.map((close, index) => dayBar(close, index, index))
  const weekdays = closes.map((close, index) => dayBar(close, index, Math.floor(index / 5) * 7 + (index % 5)))
  const tradesOf = async (groups: readonly (readonly FeedBar[])[], isQuiet: boolean) => {
    const { result } = await runBacktest(groups, {
      fromMs: Date.parse(groups[WARM_UP_BARS]?.[0]?.open_ts ?? ''),
      execution: { time_stop_hours: 10_000, max_holding_hours: 10_000 },
      own: openDirectly(crossing, {}, { analysisSeconds: () => DAY_S, tradesPast: true }) as never,
      strategy: 'crossing',
      killSwitch: { l2_loss_streak: 0, l1_daily_loss_pct: 0.9, l3_max_drawdown_pct: 0.95 },
      risk: { max_drawdown_pct: 0.95 },
      ...(isQuiet ? { onEvents: undefined as never } : {}),
    })
    return result.account.trades.map(({ direction, entry_price }) => [direction, entry_price])
  }
  const crossing = defineStrategy({
    name: 'crossing',
    parameters: z.object({}),
    warmUpBars: 0,
    create: () => ({
      onBar: ({ bar: { close, open }, position }) => {
        if (close > open)
          return position === null ? { side: 'long', size: 0.05, stop: null, target: null } : null
        return position === null ? null : { side: 'flat' }
      },
    }),
  })

  it.each([true, false])('trades like one without them; quiet: %s', async (isQuiet) => {
    const expected = await tradesOf(contiguous, isQuiet)
    expect(expected.length).toBeGreaterThan(7)
    expect(await tradesOf(weekdays, isQuiet)).toEqual(expected)
  })
})

describe('a run', () => {
  it('trades from the named moment to the named end', async () => {
    const groups = quiet(WARM_UP_BARS + 100)
    const fromMs = Date.parse(timeOf(FIRST + 20))
    const toMs = Date.parse(timeOf(FIRST + 50))
    const { result, ofType } = await runBacktest(groups, { fromMs, toMs })
    expect(result).toMatchObject({ bars: 30, firstOpenMs: fromMs, lastCloseMs: toMs, resolutionSeconds: 900 })
    expect(ofType('execution.trade_intent.v1')[0]?.recordedAt).toBe(timeOf(FIRST + 20))
  })

  it('pays funding at 00, 08 and 16 UTC', async () => {
    const funded = Array.from({ length: 96 }, (_, index) => [
      bar(FIRST + index, 100, { funding_annualized: 10 }),
    ])
    const { result, ofType } = await runBacktest([...quiet(), ...funded])
    expect(ofType('execution.funding_applied.v1').map(({ recordedAt }) => recordedAt.slice(11, 16))).toEqual([
      '08:00',
      '16:00',
      '00:00',
    ])
    expect(result.account.funding).toBeGreaterThan(0)
  })

  it('goes through a gap without a price, and trades at the open behind it', async () => {
    const { result, ofType } = await runBacktest([...quiet(), [bar(FIRST + 300)], [bar(FIRST + 301)]])
    expect(result.bars).toBe(2)
    expect(ofType('execution.position_opened.v1').map(({ recordedAt }) => recordedAt)).toEqual([
      timeOf(FIRST + 300),
    ])
  })

  it('ends with what the kill switch does, unless somebody lowers it every midnight', async () => {
    const falling = Array.from({ length: 400 }, (_, index) => {
      const close = 100 * 0.98 ** index
      return [bar(FIRST + index, close, { open: close, high: close, low: close * 0.9 })]
    })
    const killSwitch = { l2_loss_streak: 1 }
    const left = await runBacktest([...quiet(), ...falling], { killSwitch })
    expect(left.result.account.killSwitch).toEqual({
      level: 2,
      stops: 1,
      first_stop_at: timeOf(FIRST + 1),
      first_stop_reason: 'loss_streak=1',
      first_stop_cause: '1 loss in a row (limit 1)',
      trades_before_stop: 1,
      lowered: 0,
    })
    const lowered = await runBacktest([...quiet(), ...falling], { killSwitch, resetsDaily: true })
    expect(lowered.result.account.killSwitch.stops).toBeGreaterThan(1)
    expect(lowered.result.account.killSwitch.lowered).toBeGreaterThan(0)
    // Later requests of the strategy are refused and counted.
    expect(left.result.account.heldBack['kill_switch']).toBeGreaterThan(100)
    expect(lowered.result.account.trades.length).toBeGreaterThan(left.result.account.trades.length)
  })

  it('needs no approval and trades on paper, whatever the settings of the service are', async () => {
    const execution = { mode: 'live', venue: 'binanceusdm', require_approval: true } as const
    const { result } = await runBacktest([...quiet(), [bar(FIRST)]], { execution })
    expect(result.openPositions).toBe(1)
  })

  it('counts the days, and the equity that each ended with', async () => {
    const { result } = await runBacktest(quiet(WARM_UP_BARS + 96))
    // The run lasts from 02:00 to 02:00 of the next day.
    expect(result.account.days).toHaveLength(2)
    expect(result.account.start).toBe(10_000)
  })

  it('takes a bar that comes late without going back in time', async () => {
    const groups = [
      ...Array.from({ length: WARM_UP_BARS }, (_, index) => [bar(index), bar(index, 50, { symbol: 'ETH' })]),
      [bar(FIRST)],
      [bar(FIRST + 96)],
      [bar(FIRST, 50, { symbol: 'ETH' })],
      [bar(FIRST + 97)],
    ]
    const { result, events } = await runBacktest(groups)
    const times = events.map(({ recordedAt }) => recordedAt)
    expect(times).toEqual(times.toSorted())
    expect(result).toMatchObject({ bars: 4, lastCloseMs: Date.parse(timeOf(FIRST + 98)) })
    expect(result.account.days).toHaveLength(2)
  })

  it('fails with a feed that fails', async () => {
    const feed = new RecordedBarsFeed([...quiet(), [bar(FIRST)]])
    const failing = Object.assign(feed, {
      status: () => ({ state: 'failing', error: 'gone', lastBarAtMs: null, clockOffsetMs: null }) as const,
    })
    await expect(runBacktest([], { feed: failing })).rejects.toThrow(NoBarsError)
  })

  it('ends with the first error of its strategy, also in a bar that changes nothing else', async () => {
    const bars = Array.from({ length: WARM_UP_BARS + 40 }, (_, index) => historyBar(index))
    let asked = 0
    const failing = defineStrategy({
      name: 'failing',
      parameters: z.object({}),
      warmUpBars: 0,
      create: () => ({
        onBar: () => {
          asked += 1
          if (asked === WARM_UP_BARS + 20) throw new Error('it is broken')
          return null
        },
      }),
    })
    const own = openDirectly(failing, {}, { analysisSeconds: () => QUARTER_S, tradesPast: true })
    // Like the program's own feeds, this one delivers bars again that were not accepted.
    const feed = createHistoryFeed({
      seconds: QUARTER_S,
      series: [
        {
          symbol: 'BTC',
          async *months() {
            yield bars
          },
        },
      ],
      timer: createSystemTimer(),
    })
    // No listener receives its events, so most bars take the fast path.
    const run = backtest({
      strategy: 'failing',
      own: Object.assign(own, { close: () => Promise.resolve() }),
      feed,
      producers: [],
      settings: DEFAULT_CONFIGURATION,
      version: 'test',
      fromMs: null,
      toMs: null,
      resetsDaily: false,
      onError: () => undefined,
    })
    await expect(run).rejects.toThrow('it is broken')
    expect(asked).toBe(WARM_UP_BARS + 20)
  })

  it('complains of bars that it cannot take, and goes on', async () => {
    const groups = [...quiet(), [bar(FIRST)], [bar(FIRST, 100)], [bar(FIRST + 1)]]
    const { result, ofType } = await runBacktest(groups)
    expect(ofType('system.audit.v1').map(({ payload }) => payload['reason'])).toEqual(['repeated'])
    expect(result.lastCloseMs).toBe(Date.parse(timeOf(FIRST + 2)))
  })
})

const MOVE = fc.double({ min: -0.03, max: 0.03, noNaN: true })

const result = (moves: readonly number[]): readonly (readonly FeedBar[])[] => {
  let close = 100
  return moves.map((move, index) => {
    // Opens a little above the last close in any case: an open has no information about its bar.
    const open = close * 1.0005
    close *= 1 + move
    const [low, high] = [Math.min(open, close) * 0.999, Math.max(open, close) * 1.001]
    return [bar(index, close, { open, high, low })]
  })
}

const BARS = WARM_UP_BARS + 30

/** Bars at which a trade began, where a look ahead would show. All bars if there were no trades. */
const informativeBars = (events: readonly Stamped[]): readonly number[] => {
  const traded = events
    .filter(({ type }) => type === 'execution.order_filled.v1')
    .map(({ recordedAt }) => (Date.parse(recordedAt) - BEGIN_MS) / (QUARTER_S * 1000))
    .filter((index) => index < BARS)
  return traded.length > 0 ? traded : Array.from({ length: BARS - WARM_UP_BARS }, (_, index) => FIRST + index)
}

it('lets the brain hear what the producers make of the bars', async () => {
  const rising = result(Array.from({ length: BARS }, (_, index) => (index % 4 === 0 ? -0.004 : 0.003)))
  const { ofType, result: full } = await runBacktest(rising, {
    strategy: 'brain',
    producers: BUILT_IN_PRODUCERS,
    brain: { min_domains: 1 },
  })
  const cycles = ofType('brain.cycle.v1')
  expect(cycles.length).toBeGreaterThan(10)
  expect(cycles.every(({ payload }) => payload['trigger'] === 'backtest')).toBe(true)
  expect(ofType('signal.ta.v1').length).toBeGreaterThan(20)
  // The other symbol of the universe has no signals.
  expect(full.account.heldBack['coverage']).toBe(cycles.length)
})

describe('the future', { timeout: 600_000 }, () => {
  it('changes nothing up to the open of the first bar that it changes', async () => {
    // Prices alone count as one domain.
    const one = { producers: BUILT_IN_PRODUCERS, brain: { min_domains: 1 } }
    const happened = async (moves: readonly number[], strategy: StrategyName) =>
      (await runBacktest(result(moves), { strategy, ...one })).events
    await fc.assert(
      fc.asyncProperty(
        fc.array(MOVE, { minLength: BARS, maxLength: BARS }),
        fc.array(MOVE, { minLength: BARS, maxLength: BARS }),
        fc.nat(),
        fc.constantFrom(...STRATEGY_NAMES),
        async (moves, others, choice, strategy) => {
          const events = await happened(moves, strategy)
          const bars = informativeBars(events)
          const kept = bars[choice % bars.length] ?? FIRST
          const upTo = (all: readonly Stamped[]) => all.filter(({ recordedAt }) => recordedAt <= timeOf(kept))
          const changed = await happened([...moves.slice(0, kept), ...others.slice(kept)], strategy)
          expect(upTo(changed)).toEqual(upTo(events))
        },
      ),
      { numRuns: 30 },
    )
  })
})
