import { describe, expect, it } from 'vitest'
import { BacktestEngine } from '../../backtest/backtest-engine.ts'
import { DEFAULT_CONFIGURATION } from '../../core/config/validate.ts'
import type { Stamped } from '../../core/log/event.ts'
import { barsFrom } from '../../core/market/bars.fixture.ts'
import type { OwnProducer, ProducerRun } from '../../ports/producer.ts'
import { OwnProducerRunner } from './own-producer-runner.ts'
import { ProducerRunner } from './producer-runner.ts'

const BEGIN = '2026-01-01T00:00:00.000Z'

type Run = () => ProducerRun | Promise<ProducerRun>

const ROWS: ProducerRun = {
  status: 'ran',
  rows: [{ type: 'signal.orderbook.v1', payload: { symbol: 'BTC', imbalance: 0.5 } }],
}

/** An engine whose time is that of its bars, with these producers. */
const serviceOf = (producers: Readonly<Record<string, Run>>, schedule = '*/5 * * * *') => {
  const configuration = {
    ...DEFAULT_CONFIGURATION,
    producers: { ...DEFAULT_CONFIGURATION.producers, quarantine_after: 2 },
  }
  const events: Stamped[] = []
  const errors: string[] = []
  const engine = new BacktestEngine({
    configuration: () => configuration,
    version: '1',
    onEvents: (some) => events.push(...some),
  })
  const onError = (what: string, error: unknown): void => void errors.push(`${what}: ${String(error)}`)
  const runner = new OwnProducerRunner({
    engine,
    clock: engine,
    configuration: () => configuration,
    producerRunner: new ProducerRunner({ engine, clock: engine, onError }),
    names: Object.keys(producers),
    open: (name): Promise<OwnProducer> => {
      // Behaves like a thread: once ended, it answers nothing any more.
      let end = (): void => undefined
      const ended = new Promise<never>((_, reject) => {
        end = () => reject(new Error('it is closed'))
      })
      ended.catch(() => undefined)
      return Promise.resolve({
        name,
        domain: 'technical',
        schedule,
        run: async () => Promise.race([(producers[name] ?? (() => ROWS))(), ended]),
        close: () => Promise.resolve(end()),
      })
    },
    onFailure: (name, error) => onError(name, error),
    onError,
  })
  return { engine, runner, events, errors }
}

/** State and events after this many minutes with these producers. */
const after = async (minutes: number, producers: Readonly<Record<string, Run>>, schedule?: string) => {
  const { engine, runner, events, errors } = serviceOf(producers, schedule)
  for (const bar of barsFrom(
    BEGIN,
    Array.from({ length: minutes }, () => 100),
  )) {
    engine.moveTo(Date.parse(bar.close_ts))
    await engine.execute({ kind: 'observe-bars', observation: { feed: 'test', bars: [bar] } })
    runner.take([bar]).catch((error: unknown) => errors.push(String(error)))
    await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setImmediate(resolve))
  }
  await runner.close()
  return { events, errors, state: engine.state }
}

const typesOf = (events: readonly Stamped[], source: string): readonly string[] =>
  events.filter((event) => event.source === source).map(({ type }) => type)

describe('a producer of the user', () => {
  it('is registered, and runs at its start and on its schedule', async () => {
    const { events, state } = await after(11, { depth: () => ROWS })
    expect(state.signals.producers.registered.get('depth')).toMatchObject({
      endpoint: 'producer:depth',
      domain: 'technical',
      schedule: '*/5 * * * *',
    })
    const one = ['signal.orderbook.v1', 'attribution.recorded.v1', 'producer.run.v1']
    expect(typesOf(events, 'depth')).toEqual([...one, ...one, ...one])
  })

  it('that fails is set aside with an alert, and costs the others nothing', async () => {
    const failing = (): never => {
      throw new Error('oops')
    }
    const { events, errors, state } = await after(4, { bad: failing, good: () => ROWS }, '* * * * *')
    expect(state.signals.producers.runs.get('bad')).toMatchObject({
      health: 'quarantined',
      lastError: 'oops',
    })
    expect(events.filter(({ type }) => type === 'alert.own_code')).toHaveLength(1)
    expect(errors).toHaveLength(2)
    expect(typesOf(events, 'good').filter((type) => type === 'producer.run.v1')).toHaveLength(4)
  })

  it('that fails now and then is set aside, too', async () => {
    let runs = 0
    const moody = (): ProducerRun => {
      runs += 1
      if (runs % 3 === 1) throw new Error('it took longer than 5 s')
      return ROWS
    }
    const { events, state } = await after(12, { moody }, '* * * * *')
    // The first and the fourth run fail.
    expect(runs).toBe(4)
    expect(state.signals.producers.runs.get('moody')).toMatchObject({
      health: 'quarantined',
      errorsInARow: 1,
    })
    expect(events.filter(({ type }) => type === 'alert.own_code')).toHaveLength(1)
  })

  it('that takes for ever is not waited for', async () => {
    const stuck = (): Promise<ProducerRun> => new Promise(() => undefined)
    const { events } = await after(3, { good: () => ROWS, stuck }, '* * * * *')
    expect(typesOf(events, 'good').filter((type) => type === 'producer.run.v1')).toHaveLength(3)
  })

  it('emits nothing outside its domain', async () => {
    const { state } = await after(1, {
      wrong: () => ({ status: 'ran', rows: [{ type: 'signal.whale.v1', payload: { symbol: 'BTC' } }] }),
    })
    expect(state.signals.producers.runs.get('wrong')).toMatchObject({ health: 'degraded' })
  })

  it('is waited for by a cycle, from when its bar comes until it has run', async () => {
    let answer = (_run: ProducerRun): void => undefined
    const { engine, runner } = serviceOf({
      slow: () =>
        new Promise((resolve) => {
          answer = resolve
        }),
    })
    const bars = barsFrom(BEGIN, [100])
    const closeMs = Date.parse(BEGIN) + 60_000
    engine.moveTo(closeMs)
    await runner.arrived(closeMs)
    const end = runner.expect(bars)
    let isOver = false
    const arrived = runner.arrived(closeMs).then(() => {
      isOver = true
    })
    expect(runner.arrivedBy(closeMs)).toEqual({ producers: [], late_producers: ['slow'] })
    await engine.execute({ kind: 'observe-bars', observation: { feed: 'test', bars } })
    const taken = runner.take(bars).finally(end)
    await new Promise((resolve) => setImmediate(resolve))
    expect(runner.arrivedBy(closeMs)).toEqual({ producers: [], late_producers: ['slow'] })
    expect(isOver).toBe(false)
    answer(ROWS)
    await Promise.all([taken, arrived])
    expect(runner.arrivedBy(closeMs)).toEqual({ producers: ['slow'], late_producers: [] })
    await runner.close()
  })
})
