import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { BacktestEngine } from '../../backtest/backtest-engine.ts'
import type { Configuration } from '../../core/config/schema.ts'
import { DEFAULT_CONFIGURATION } from '../../core/config/validate.ts'
import type { Stamped } from '../../core/log/event.ts'
import { barsFrom } from '../../core/market/bars.fixture.ts'
import type { FeedBar } from '../../core/market/bar.ts'
import { openDirectly } from '../../core/strategies/direct.ts'
import { defineStrategy, type StrategyAnswer, type StrategyView } from '../../core/strategies/strategy.ts'
import type { OpenedStrategy } from '../../ports/strategy.ts'
import { ProducerRunner } from './producer-runner.ts'
import { StrategyRunner } from './strategy-runner.ts'

const BEGIN = '2026-01-01T00:00:00.000Z'

type OnBar = (view: StrategyView) => StrategyAnswer

/** An engine whose time is that of its bars, with strategies of these names. */
class Service {
  readonly events: Stamped[] = []
  readonly errors: string[] = []
  readonly opened: string[] = []
  settings: Configuration
  readonly #engine: BacktestEngine
  readonly #runner: StrategyRunner
  readonly #stored: FeedBar[] = []

  constructor(strategies: Readonly<Record<string, OnBar | OpenedStrategy>>, timeframe = '1m') {
    this.settings = {
      ...DEFAULT_CONFIGURATION,
      producers: { ...DEFAULT_CONFIGURATION.producers, quarantine_after: 2, quarantine_seconds: 300 },
      strategies: Object.fromEntries(
        Object.keys(strategies).map((name) => [name, { enabled: true, parameters: {}, symbols: [] }]),
      ),
    }
    const configuration = () => this.settings
    this.#engine = new BacktestEngine({
      configuration,
      version: '1',
      onEvents: (events) => this.events.push(...events),
    })
    const onError = (what: string, error: unknown): void => void this.errors.push(`${what}: ${String(error)}`)
    this.#runner = new StrategyRunner({
      engine: this.#engine,
      clock: this.#engine,
      configuration,
      producerRunner: new ProducerRunner({ engine: this.#engine, clock: this.#engine, onError }),
      open: (name) => {
        this.opened.push(name)
        const code = strategies[name]
        if (code === undefined) return Promise.reject(new Error(`no strategy is named ${name}`))
        return Promise.resolve(typeof code === 'function' ? opened(name, code, timeframe) : code)
      },
      pastBars: (untilMs) =>
        Promise.resolve(this.#stored.filter(({ close_ts: closeTs }) => Date.parse(closeTs) <= untilMs)),
      onFailure: onError,
      onError,
    })
  }

  async bars(bars: readonly FeedBar[]): Promise<void> {
    for (const bar of bars) {
      this.#engine.moveTo(Date.parse(bar.close_ts))
      await this.#engine.execute({ kind: 'observe-bars', observation: { feed: 'test', bars: [bar] } })
      this.#stored.push(bar)
      this.#runner.take([bar]).catch((error: unknown) => this.errors.push(String(error)))
      // Only this test waits for strategies.
      await new Promise((resolve) => setImmediate(resolve))
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  get state() {
    return this.#engine.state
  }

  close(): Promise<void> {
    return this.#runner.close()
  }

  payloadsOf(type: string) {
    return this.events.filter((event) => event.type === type).map(({ payload }) => payload)
  }
}

const opened = (name: string, onBar: OnBar, timeframe: string): OpenedStrategy => {
  const definition = defineStrategy({
    name,
    parameters: z.object({}),
    timeframes: [timeframe],
    warmUpBars: 0,
    create: () => ({ onBar }),
  })
  const running = openDirectly(definition, {}, { analysisSeconds: () => 900 })
  return Object.assign(running, { close: () => Promise.resolve() })
}

const minutes = (closes: readonly number[], from = BEGIN) => barsFrom(from, closes)

const always = (): StrategyAnswer => ({ side: 'long', reason: 'why not' })

describe('a strategy of the settings', () => {
  it('trades through the intents, under its own name, and its trade is a call', async () => {
    const service = new Service({ eager: always })
    await service.bars(minutes([100]))
    const signal = service.events.find(({ type }) => type === 'signal.strategy.v1')
    expect(signal).toMatchObject({ source: 'eager', payload: { direction: 'bullish', conviction: 75 } })
    expect(service.payloadsOf('execution.trade_intent.v1')).toMatchObject([
      { rationale: 'eager: long BTC, why not', signal_ids: [signal?.id] },
    ])
    expect(service.payloadsOf('execution.position_opened.v1')).toMatchObject([{ signal_ids: [signal?.id] }])
    expect(service.payloadsOf('attribution.recorded.v1')).toMatchObject([
      { producer_id: 'eager', direction: 'bullish', horizon: '4h' },
    ])
    // Registered as an author that is not polled.
    expect(service.payloadsOf('producer.registered.v1')).toEqual([
      { name: 'eager', domain: 'technical', endpoint: 'strategy:eager', schedule: '* * * * *' },
    ])
  })

  it('is registered with the schedule of its timeframe', async () => {
    const service = new Service({ eager: always }, '5m')
    await service.bars(minutes([100, 101, 102, 103, 104]))
    expect(service.payloadsOf('producer.registered.v1')).toMatchObject([{ schedule: '*/5 * * * *' }])
  })

  it('is judged by what becomes of its calls', async () => {
    const service = new Service({ eager: always })
    await service.bars(minutes([100, 101, 102, 130]))
    expect(service.payloadsOf('execution.position_closed.v1')).toMatchObject([{ exit_reason: 'take_profit' }])
    expect(service.payloadsOf('attribution.resolved.v1')).toMatchObject([
      { producer_id: 'eager', resolved_by: 'trade', hit: true },
    ])
  })

  it('sees the past of the log when it begins, and trades on what comes after', async () => {
    const seen: [number, boolean][] = []
    const service = new Service({})
    await service.bars(minutes([1, 2, 3]))
    const watching = new Service({
      watching: ({ bar, isWarmUp }) => {
        seen.push([bar.close, isWarmUp])
        return null
      },
    })
    watching.settings = { ...watching.settings, strategies: {} }
    await watching.bars(minutes([1, 2, 3]))
    watching.settings = {
      ...watching.settings,
      strategies: { watching: { enabled: true, parameters: {}, symbols: [] } },
    }
    await watching.bars(minutes([4], '2026-01-01T00:03:00.000Z'))
    expect(seen).toEqual([
      [1, true],
      [2, true],
      [3, true],
      [4, false],
    ])
  })

  it('gets only the bars of its symbols, and begins anew with other settings', async () => {
    const seen: string[] = []
    const service = new Service({ some: ({ symbol }) => void seen.push(symbol) })
    const strategies = { some: { enabled: true, parameters: {}, symbols: ['ETH'] } }
    service.settings = { ...service.settings, strategies }
    await service.bars([...minutes([1]), ...barsFrom(BEGIN, [1], { symbol: 'ETH' })])
    expect(seen).toEqual(['ETH'])
    service.settings = { ...service.settings, strategies: { some: { ...strategies.some, symbols: [] } } }
    await service.bars(minutes([2], '2026-01-01T00:01:00.000Z'))
    expect(service.opened).toEqual(['some', 'some'])
    service.settings = { ...service.settings, strategies: { some: { ...strategies.some, enabled: false } } }
    await service.bars(minutes([3], '2026-01-01T00:02:00.000Z'))
    expect(seen.filter((symbol) => symbol === 'BTC')).toHaveLength(2)
  })
})

describe('a strategy that fails', () => {
  const failing = (): StrategyAnswer => {
    throw new Error('oops')
  }

  it('is set aside with an alert, and costs nobody else a bar', async () => {
    const service = new Service({ bad: failing, good: always })
    await service.bars(minutes([100, 101, 102, 103]))
    expect(service.payloadsOf('alert.own_code')).toMatchObject([
      { producer: 'bad', cause: 'quarantined', urgency: 'immediate' },
    ])
    expect(service.state.operations.alerts.size).toBe(1)
    expect(service.state.signals.producers.runs.get('bad')).toMatchObject({
      health: 'quarantined',
      lastError: 'oops',
    })
    // The strategy is quarantined after two errors and does not run again.
    expect(service.errors).toHaveLength(2)
    expect(service.state.signals.producers.runs.get('good')).toMatchObject({ health: 'ok' })
    expect(service.payloadsOf('execution.position_opened.v1')).toHaveLength(1)
  })

  it('is set aside whatever its error says', async () => {
    const broken: OnBar = () => {
      throw new Error('😀'.slice(0, 1))
    }
    const service = new Service({ broken })
    await service.bars(minutes([100, 100]))
    expect(service.payloadsOf('producer.run.v1').map(({ error }) => error)).toEqual(['\ufffd', '\ufffd'])
  })

  it('does not look sound between two bars that it fails on', async () => {
    const broken: OnBar = ({ isWarmUp }) => {
      if (isWarmUp) return null
      throw new Error('oops')
    }
    const service = new Service({ broken }, '5m')
    // With 1-minute bars, it restarts with the first bar after each failure and reads the history.
    await service.bars(minutes(Array.from({ length: 12 }, () => 100)))
    expect(service.payloadsOf('producer.run.v1')).toMatchObject([
      { health: 'error', consecutive_failures: 1 },
      { health: 'quarantined', consecutive_failures: 2 },
    ])
  })

  it('is tried again when its time is over', async () => {
    let isBroken = true
    const service = new Service({
      bad: () => {
        if (isBroken) throw new Error('oops')
        return { side: 'long' }
      },
    })
    await service.bars(minutes([100, 100, 100, 100]))
    isBroken = false
    expect(service.payloadsOf('execution.position_opened.v1')).toEqual([])
    await service.bars(minutes([100, 100, 100, 100], '2026-01-01T00:06:00.000Z'))
    expect(service.payloadsOf('execution.position_opened.v1')).toHaveLength(1)
    expect(service.state.signals.producers.runs.get('bad')?.health).toBe('ok')
  })

  it('holds up neither the bars nor the other strategies while it thinks', async () => {
    const stuck: OpenedStrategy = {
      name: 'stuck',
      parameters: {},
      warmUp: { bars: 0, seconds: 60 },
      isDue: true,
      add: () => undefined,
      decide: () => new Promise(() => undefined),
      close: () => Promise.resolve(),
    }
    const service = new Service({ good: always, stuck })
    await service.bars(minutes([100, 101]))
    expect(service.payloadsOf('execution.position_opened.v1')).toHaveLength(1)
  })

  it('is said to be missing if there is none of its name', async () => {
    const service = new Service({})
    const strategies = { gone: { enabled: true, parameters: {}, symbols: [] } }
    service.settings = { ...service.settings, strategies }
    await service.bars(minutes([100]))
    expect(service.state.signals.producers.runs.get('gone')).toMatchObject({
      health: 'error',
      lastError: 'no strategy is named gone',
    })
  })

  it('may not have the name of another author', async () => {
    const service = new Service({ 'technical-analysis': always })
    await service.bars(minutes([100]))
    expect(service.errors.join()).toContain('a producer named technical-analysis exists already')
    expect(service.payloadsOf('execution.position_opened.v1')).toEqual([])
  })
})
