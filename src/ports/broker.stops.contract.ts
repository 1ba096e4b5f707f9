import type { Price, Quantity } from '../core/shared/money.ts'
import { describe, expect, it } from 'vitest'
import {
  entryOf,
  stopOf,
  sumOf,
  tradesIn,
  units,
  type BrokerFixture,
  type PatientStops,
} from './broker.fixture.ts'
import type { StopReport } from './broker.ts'

/** Protective stops that rest at the venue. */
export const brokerStopsContract = (name: string, openFixture: () => Promise<BrokerFixture>): void => {
  const openWithPosition = async (): Promise<BrokerFixture & { readonly stops: PatientStops }> => {
    const fixture = await openFixture()
    const { broker, run } = fixture
    await run(broker.preflight(['BTC', 'ETH']))
    expect((await run(broker.submit(entryOf('entry1')))).status).toBe('accepted')
    if (broker.stops === null) throw new Error('no stops can rest at this venue')
    return { ...fixture, stops: broker.stops }
  }

  describe(`${name} rests stops at the venue`, () => {
    it('and finds them again with their numbers', async () => {
      const { run, stops, restingStops } = await openWithPosition()
      const placed = await run(stops.place(stopOf('stop1')))
      expect(placed).toMatchObject({
        status: 'accepted',
        stop: { ...stopOf('stop1'), status: 'resting', order: null },
      })
      expect(restingStops()).toEqual(['stop1'])
      expect(await run(stops.lookup(stopOf('stop1')))).toEqual({
        status: 'found',
        stop: placed.status === 'accepted' ? placed.stop : null,
      })
      expect(await run(stops.lookup(stopOf('never1')))).toEqual({ status: 'not_found' })
    })

    it('on the steps of the venue, never larger and never further away', async () => {
      const { run, broker, stops } = await openWithPosition()
      const { quantityStep, priceStep } = broker.stepsOf('BTC') ?? {}
      const [step, tick] = [quantityStep ?? 0n, priceStep ?? 0n]
      const quantity = (units(0.05) + step - 1n) as Quantity
      const below = await accepted(run, stops, {
        ...stopOf('stop1'),
        quantity,
        triggerPrice: (units(58_000) + 1n) as Price,
      })
      expect(below.quantity).toBe(units(0.05))
      expect(below.triggerPrice).toBe(units(58_000) + tick)
      const above = await accepted(run, stops, {
        ...stopOf('stop2'),
        side: 'buy',
        triggerPrice: (units(62_000) + tick - 1n) as Price,
      })
      expect(above.triggerPrice).toBe(units(62_000))
    })

    it('that the price triggers, and reports their fills', async () => {
      const { run, broker, stops, setPrice, tradesOfStop } = await openWithPosition()
      await accepted(run, stops, stopOf('stop1'))
      setPrice('BTC', units(57_900))
      const found = await run(stops.lookup(stopOf('stop1')))
      const stop = found.status === 'found' ? found.stop : null
      expect(stop).toMatchObject({
        status: 'triggered',
        order: { clientOrderId: 'stop1', status: 'filled', filledQuantity: units(0.05) },
      })
      const fills = stop?.order?.fills ?? []
      expect(tradesIn(fills)).toEqual(tradesOfStop('stop1'))
      expect(sumOf(fills)).toBe(units(0.05))
      expect((await run(broker.account()))?.positions).toEqual([])
      expect(await run(stops.open())).toEqual([])
    })

    it('still finds one that was triggered or canceled a minute ago', async () => {
      const { run, stops, setPrice, pass } = await openWithPosition()
      await accepted(run, stops, stopOf('stop1'))
      await accepted(run, stops, stopOf('stop2', { triggerPrice: units(57_000) as Price }))
      expect(await run(stops.cancel(stopOf('stop2')))).toEqual({ status: 'canceled' })
      setPrice('BTC', units(57_900))
      await run(pass(60_000))
      expect(await run(stops.lookup(stopOf('stop1')))).toMatchObject({
        status: 'found',
        stop: { status: 'triggered', order: { status: 'filled' } },
      })
      expect(await run(stops.lookup(stopOf('stop2')))).toMatchObject({
        status: 'found',
        stop: { status: 'canceled', quantity: units(0.05), triggerPrice: units(57_000) },
      })
    })

    it('that never reverse a position', async () => {
      const { run, broker, stops, setPrice } = await openWithPosition()
      await accepted(run, stops, stopOf('stop1'))
      await accepted(run, stops, stopOf('stop2', { triggerPrice: units(58_500) as Price }))
      setPrice('BTC', units(57_900))
      expect((await run(broker.account()))?.positions).toEqual([])
    })

    it('until they are canceled', async () => {
      const { run, stops, restingStops } = await openWithPosition()
      await accepted(run, stops, stopOf('stop1'))
      expect(await run(stops.cancel(stopOf('stop1')))).toEqual({ status: 'canceled' })
      expect(restingStops()).toEqual([])
      for (const id of ['stop1', 'never1'])
        expect(await run(stops.cancel(stopOf(id)))).toEqual({ status: 'not_open' })
    })

    it('and moves one without a moment in which there is none', async () => {
      const { run, stops, restingStops } = await openWithPosition()
      await accepted(run, stops, stopOf('stop1'))
      await accepted(run, stops, stopOf('stop2', { triggerPrice: units(59_000) as Price }))
      expect(restingStops()).toEqual(['stop1', 'stop2'])
      await run(stops.cancel(stopOf('stop1')))
      expect(await run(stops.open())).toMatchObject([
        { clientOrderId: 'stop2', triggerPrice: units(59_000), status: 'resting' },
      ])
    })

    it('and lists all that rest, in the spelling of the configuration', async () => {
      const { run, broker, stops } = await openWithPosition()
      await run(broker.preflight(['btc-perp', 'ETH']))
      await accepted(run, stops, stopOf('stop1'))
      await accepted(
        run,
        stops,
        stopOf('stop2', {
          symbol: 'ETH',
          triggerPrice: units(2_900) as Price,
          quantity: units(0.5) as Quantity,
        }),
      )
      expect(await run(stops.open())).toMatchObject([
        { ...stopOf('stop1'), symbol: 'btc-perp', status: 'resting' },
        { clientOrderId: 'stop2', symbol: 'ETH', quantity: units(0.5), triggerPrice: units(2_900) },
      ])
    })

    it('once, however often they are placed', async () => {
      const { run, stops, restingStops } = await openWithPosition()
      const first = await accepted(run, stops, stopOf('stop1'))
      expect(await accepted(run, stops, stopOf('stop1'))).toEqual(first)
      expect(restingStops()).toEqual(['stop1'])
    })

    it('and rejects those that would be triggered at once or are too small', async () => {
      const { run, stops, restingStops } = await openWithPosition()
      const late = stopOf('stop1', { triggerPrice: units(61_000) as Price })
      expect((await run(stops.place(late))).status).toBe('rejected')
      const small = stopOf('stop1', { quantity: 1n as Quantity })
      expect((await run(stops.place(small))).status).toBe('not_sent')
      expect(restingStops()).toEqual([])
    })

    it.each(['drop_before', 'drop_after', 'server_error_after', 'page_after'] as const)(
      'and returns unclear after %s, until it is looked up',
      async (fault) => {
        const { run, stops, restingStops, addFault } = await openWithPosition()
        addFault('place_stop', fault, 1)
        expect((await run(stops.place(stopOf('stop1')))).status).toBe('unclear')
        const looked = await run(stops.lookup(stopOf('stop1')))
        expect(looked.status).toBe(restingStops().length === 1 ? 'found' : 'not_found')
        await accepted(run, stops, stopOf('stop1'))
        addFault('cancel_stop', fault, 1)
        expect((await run(stops.cancel(stopOf('stop1')))).status).toBe('unclear')
        const after = await run(stops.lookup(stopOf('stop1')))
        expect(after).toMatchObject({
          stop: { status: restingStops().length === 1 ? 'resting' : 'canceled' },
        })
      },
    )

    it('and reports none without a response', async () => {
      const { run, stops, addFault } = await openWithPosition()
      addFault('any', 'drop_before')
      expect(await run(stops.open())).toBeNull()
      expect((await run(stops.lookup(stopOf('stop1')))).status).toBe('unclear')
      expect((await run(stops.cancel(stopOf('stop1')))).status).toBe('unclear')
    })
  })
}

const accepted = async (
  run: BrokerFixture['run'],
  stops: PatientStops,
  order: Parameters<PatientStops['place']>[0],
): Promise<StopReport> => {
  const result = await run(stops.place(order))
  if (result.status !== 'accepted') throw new Error(`it was ${result.status}: ${result.reason}`)
  return result.stop
}
