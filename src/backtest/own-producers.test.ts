import { describe, expect, it } from 'vitest'
import { BUILT_IN_PRODUCERS } from '../adapters/producers/all.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import type { Stamped } from '../core/log/event.ts'
import type { MarketView } from '../core/market/readings.ts'
import { priceNumber } from '../core/shared/money.ts'
import type { ProducerRun } from '../ports/producer.ts'
import { minuteBars } from './minute-bars.fixture.ts'
import { ownProducerText, type OwnProducers } from './own-producers.ts'
import { RecordedBarsFeed } from './recorded-feed.fixture.ts'
import { backtest, WARM_UP_BARS } from './run.ts'
import type { BacktestDependencies } from './run-dependencies.ts'

type Run = (view: MarketView) => ProducerRun

const BARS = minuteBars({ seed: 5, count: WARM_UP_BARS + 400 })

/** Sure of a rise, in the domain of the producer. */
const rising: Run = () => ({
  status: 'ran',
  rows: [
    { type: 'signal.social.v1', payload: { symbol: 'BTC', score: 9, direction: 'bullish', source_count: 3 } },
  ],
})

const filesOf = (producers: Readonly<Record<string, Run>>, opened: string[] = []): OwnProducers => ({
  names: Object.keys(producers),
  open: (name) => {
    opened.push(name)
    return Promise.resolve({
      name,
      domain: 'social',
      schedule: '*/5 * * * *',
      run: async (view) => (producers[name] ?? rising)(view),
      close: () => Promise.resolve(),
    })
  },
})

const settings = {
  ...DEFAULT_CONFIGURATION,
  universe: { ...DEFAULT_CONFIGURATION.universe, symbols: ['BTC'] },
  ta: { ...DEFAULT_CONFIGURATION.ta, bar_seconds: 60 },
  brain: { ...DEFAULT_CONFIGURATION.brain, min_domains: 1 },
  producers: { ...DEFAULT_CONFIGURATION.producers, quarantine_after: 3 },
}

const runWith = async (
  ownProducers: OwnProducers | undefined,
  changes: Partial<BacktestDependencies> = {},
) => {
  const result = await backtest({
    strategy: 'brain',
    feed: new RecordedBarsFeed(BARS),
    producers: BUILT_IN_PRODUCERS,
    ownProducers,
    settings,
    version: 'test',
    fromMs: null,
    toMs: null,
    resetsDaily: false,
    onError: (message) => expect.fail(message),
    ...changes,
  })
  return { result }
}

/** A run with all its events. */
const recordedWith = async (
  ownProducers: OwnProducers | undefined,
  changes: Partial<BacktestDependencies> = {},
) => {
  const events: Stamped[] = []
  const { result } = await runWith(ownProducers, { ...changes, onEvents: (some) => events.push(...some) })
  return {
    result,
    events,
    ofType: (type: string): readonly Stamped[] => events.filter((event) => event.type === type),
  }
}

describe('a producer of the user in a backtest of the brain', () => {
  it('runs on its schedule after the warm-up, and before the cycle of the same time', async () => {
    const views: [number, number | undefined][] = []
    const looking: Run = (view) => {
      const [btc] = view.symbols
      views.push([view.asOfMs, btc === undefined ? undefined : priceNumber(btc.close)])
      return rising(view)
    }
    const { result, ofType, events } = await recordedWith(filesOf({ crowd: looking }))
    expect(result.ownProducers).toEqual([
      { name: 'crowd', runs: 81, signals: 81, failures: 0, last_error: null, set_aside_at: null },
    ])
    // With the first bar that is traded on, and then every five minutes, on the bar that has just closed.
    for (const [index, [asOfMs, close]] of views.entries()) {
      if (index > 0) expect(asOfMs % 300_000).toBe(0)
      const group = BARS.find(([bar]) => Date.parse(bar?.close_ts ?? '') === asOfMs)
      expect(close).toBe(group?.[0]?.close)
    }
    const signals = ofType('signal.social.v1')
    const cycle = ofType('brain.cycle.v1').find(({ ts }) => signals.some((signal) => signal.ts === ts))
    const seqOf = (id: string | undefined) => events.findIndex((event) => event.id === id)
    const before = signals.findLast(({ ts }) => ts === cycle?.ts)
    expect(seqOf(before?.id)).toBeLessThan(seqOf(cycle?.id))
    const silent = await recordedWith(undefined)
    const convictions = (run: typeof silent) =>
      run.ofType('brain.conviction.v1').map(({ payload }) => payload['effective_conviction'])
    expect(silent.result.ownProducers).toEqual([])
    expect(convictions(await recordedWith(filesOf({ crowd: rising })))).not.toEqual(convictions(silent))
  })

  it('comes to the same without the events of bars, and in every run', async () => {
    const files = () => filesOf({ crowd: rising, second: rising })
    const quick = await runWith(files())
    const thorough = await runWith(files(), { onEvents: () => undefined })
    expect(quick.result).toEqual(thorough.result)
    expect(quick.result.ownProducers.map(({ runs }) => runs)).toEqual([81, 81])
    expect((await recordedWith(files())).events).toEqual((await recordedWith(files())).events)
  })

  it('that fails is set aside for the rest of the run and named, and ends nothing', async () => {
    const opened: string[] = []
    const failing: Run = () => {
      throw new Error('oops')
    }
    const { result } = await runWith(filesOf({ bad: failing, crowd: rising }, opened))
    const [bad, crowd] = result.ownProducers
    expect(bad).toMatchObject({ name: 'bad', runs: 3, signals: 0, failures: 3, last_error: 'oops' })
    expect(bad?.set_aside_at).not.toBeNull()
    expect(crowd).toMatchObject({ runs: 81, failures: 0 })
    expect(opened.filter((name) => name === 'bad')).toHaveLength(3)
    expect(bad === undefined ? '' : ownProducerText(bad)).toMatch(
      /^bad: 3 runs, 0 signals, 3 failures, the last: oops; set aside from /,
    )
  })

  it('cannot take the name of a built-in one, and does it no harm', async () => {
    const { result, ofType } = await recordedWith(filesOf({ 'technical-analysis': rising }))
    expect(result.ownProducers).toMatchObject([
      { runs: 0, signals: 0, failures: 1, last_error: expect.stringContaining('exists already') },
    ])
    expect(result.ownProducers[0]?.set_aside_at).not.toBeNull()
    const runs = ofType('producer.run.v1').filter(({ source }) => source === 'technical-analysis')
    expect(runs.every(({ payload }) => payload['health'] !== 'error')).toBe(true)
    expect(ofType('signal.social.v1')).toEqual([])
  })

  it('is not run for a rule, which uses no signals', async () => {
    const opened: string[] = []
    const { result } = await runWith(filesOf({ crowd: rising }, opened), { strategy: 'momentum' })
    expect({ opened, own: result.ownProducers }).toEqual({ opened: [], own: [] })
  })
})
