import { priceFrom, type Quantity } from '../core/shared/money.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { brokerDeadlineContract } from './broker.deadline.contract.ts'
import { brokerFaultsContract, brokerRandomFaultsContract } from './broker.faults.contract.ts'
import { brokerMarginContract } from './broker.margin.contract.ts'
import { brokerStopsContract } from './broker.stops.contract.ts'
import { entryOf, exitOf, sumOf, tradesIn, units, type BrokerFixture } from './broker.fixture.ts'
import type { Broker, OrderReport } from './broker.ts'

/** Contract of every broker. Each adapter runs it. */
export const brokerContract = (name: string, open: () => Promise<BrokerFixture>): void => {
  const fixtures: BrokerFixture[] = []
  const openFixture = async (): Promise<BrokerFixture> => {
    const fixture = await open()
    fixtures.push(fixture)
    return fixture
  }
  afterEach(async () => {
    for (const fixture of fixtures.splice(0)) {
      await fixture.broker.close()
      await fixture.close()
    }
  })

  describe(`${name}, before anything is sent,`, () => {
    it('passes every check of a healthy venue', async () => {
      const { broker, run } = await openFixture()
      const checks = await run(broker.preflight(['BTC', 'ETH']))
      expect(checks.filter(({ ok }) => !ok)).toEqual([])
      expect(checks.map((check) => check.name)).toEqual(CHECKS)
      expect(checks.every(({ detail }) => detail.length > 0)).toBe(true)
    })

    it('reports failed checks, and does not reject', async () => {
      const { broker, run, addFault } = await openFixture()
      const unlisted = await run(broker.preflight(['BTC', 'NOPE']))
      expect(unlisted.find((check) => check.name === 'markets')).toMatchObject({ ok: false })
      expect(JSON.stringify(unlisted)).toContain('NOPE')
      addFault('any', 'drop_before')
      const down = await run(broker.preflight(['BTC']))
      expect(down.map(({ ok }) => ok)).toEqual(CHECKS.map(() => false))
    })

    it('knows the steps of traded symbols, and of no others', async () => {
      const { broker, run } = await openFixture()
      expect(broker.stepsOf('BTC')).toBeNull()
      await run(broker.preflight(['BTC', 'ETH']))
      const steps = broker.stepsOf('btc/usdt')
      expect(steps?.quantityStep).toBeGreaterThan(0n)
      expect(steps?.priceStep).toBeGreaterThan(0n)
      expect(broker.stepsOf('NOPE')).toBeNull()
    })
  })

  describe(`${name} sends orders`, () => {
    it('and reports every fill with its price and fee', async () => {
      const fixture = await openFixture()
      const report = await accepted(fixture, fixture.broker.submit(entryOf('entry1')))
      expect(report).toMatchObject({ clientOrderId: 'entry1', status: 'filled' })
      expect(report.filledQuantity).toBe(units(0.05))
      expect(tradesIn(report.fills)).toEqual(fixture.tradesOf('entry1'))
      expect(report.fills.every(({ feeUsd, atMs }) => feeUsd > 0n && atMs > 0)).toBe(true)
    })

    it('also without a preflight', async () => {
      const fixture = await openFixture()
      await accepted(fixture, fixture.broker.submit(exitOf('entry1', { side: 'buy', reduceOnly: false })))
      expect(fixture.orders()).toHaveLength(1)
    })

    it('never larger or at a worse limit than requested', async () => {
      const fixture = await openFixture()
      const { run, broker } = fixture
      await run(broker.preflight(['BTC']))
      const step = broker.stepsOf('BTC')?.quantityStep ?? 0n
      const asked = { quantity: (units(0.05) + step - 1n) as Quantity, limitPrice: priceFrom(60_300.09) }
      await accepted(fixture, fixture.broker.submit(entryOf('buy1', asked)))
      await accepted(
        fixture,
        fixture.broker.submit(entryOf('sell1', { ...asked, side: 'sell', limitPrice: priceFrom(59_700.01) })),
      )
      const [bought, sold] = fixture.orders()
      expect(bought?.quantity).toBe(units(0.05))
      expect(bought?.limitPrice).toBeLessThanOrEqual(asked.limitPrice)
      expect(sold?.limitPrice).toBeGreaterThanOrEqual(units(59_700.01))
    })

    it('that end at once when the price is beyond their limit', async () => {
      const fixture = await openFixture()
      fixture.setPrice('BTC', units(60_400))
      const report = await accepted(fixture, fixture.broker.submit(entryOf('entry1')))
      expect(report).toMatchObject({ status: 'canceled', filledQuantity: 0n, fills: [] })
    })

    it("but none below the venue's minimum", async () => {
      const fixture = await openFixture()
      await fixture.run(fixture.broker.preflight(['BTC']))
      const steps = fixture.broker.stepsOf('BTC')
      const smallest = steps?.quantityMin ?? steps?.quantityStep ?? 0n
      expect(smallest).toBeGreaterThan(1n)
      for (const quantity of [1n, smallest - 1n]) {
        const result = await fixture.run(
          fixture.broker.submit(entryOf('small', { quantity: quantity as Quantity })),
        )
        expect(result.status).toBe('not_sent')
      }
      expect(fixture.orders()).toEqual([])
    })

    it('that only reduce a position', async () => {
      const fixture = await openFixture()
      const { broker, run } = fixture
      expect((await run(broker.submit(exitOf('exit0')))).status).toBe('rejected')
      await accepted(fixture, broker.submit(entryOf('entry1')))
      const report = await accepted(
        fixture,
        broker.submit(exitOf('exit1', { quantity: units(0.2) as Quantity })),
      )
      expect(sumOf(report.fills)).toBe(units(0.05))
      expect((await run(broker.account()))?.positions).toEqual([])
    })

    it('but none for delisted symbols, once it knows', async () => {
      const fixture = await openFixture()
      await fixture.run(fixture.broker.preflight(['BTC', 'ETH']))
      fixture.delist('BTC')
      expect((await fixture.run(fixture.broker.submit(entryOf('entry1')))).status).toBe('rejected')
      expect(fixture.broker.stepsOf('BTC')).toBeNull()
      expect(fixture.broker.stepsOf('ETH')).not.toBeNull()
      expect((await fixture.run(fixture.broker.submit(entryOf('entry2')))).status).toBe('not_sent')
    })
  })

  describe(`${name} looks orders up`, () => {
    it('as they were reported when they were sent', async () => {
      const fixture = await openFixture()
      const report = await accepted(fixture, fixture.broker.submit(entryOf('entry1')))
      expect(await fixture.run(fixture.broker.lookup(entryOf('entry1')))).toEqual({
        status: 'found',
        report,
      })
    })

    it('and does not find what was never sent', async () => {
      const fixture = await openFixture()
      const result = await fixture.run(fixture.broker.lookup(entryOf('never1')))
      expect(result).toEqual({ status: 'not_found' })
    })

    it('while they are open, and after they were filled', async () => {
      const fixture = await openFixture()
      fixture.addFault('submit', 'part_then_open', 1)
      const first = await accepted(fixture, fixture.broker.submit(entryOf('entry1')))
      expect(first.status).toBe('partial')
      fixture.fillRest('entry1')
      const second = await found(fixture, 'entry1')
      expect(second).toMatchObject({ status: 'filled', filledQuantity: units(0.05) })
      expect(tradesIn(second.fills)).toEqual(fixture.tradesOf('entry1'))
    })
  })

  describe(`${name} cancels`, () => {
    it('the rest of an order, and reports what was filled', async () => {
      const fixture = await openFixture()
      fixture.addFault('submit', 'part_then_open', 1)
      await accepted(fixture, fixture.broker.submit(entryOf('entry1')))
      const result = await fixture.run(fixture.broker.cancel(entryOf('entry1')))
      expect(result.status).toBe('canceled')
      const report = result.status === 'canceled' ? result.report : null
      expect(report?.status).toBe('canceled')
      expect(tradesIn(report?.fills ?? [])).toEqual(fixture.tradesOf('entry1'))
    })

    it('no order that has ended or never existed', async () => {
      const fixture = await openFixture()
      await accepted(fixture, fixture.broker.submit(entryOf('entry1')))
      for (const id of ['entry1', 'never1']) {
        expect(await fixture.run(fixture.broker.cancel(entryOf(id)))).toEqual({ status: 'not_open' })
      }
    })
  })

  describe(`${name} reports the account`, () => {
    it('with its positions, in the spelling of the configuration', async () => {
      const fixture = await openFixture()
      const { broker, run } = fixture
      await run(broker.preflight(['btc-perp', 'ETH']))
      expect(await run(broker.account())).toMatchObject({ equity: 10_000_000_000n, positions: [] })
      await accepted(fixture, broker.submit(entryOf('entry1', { symbol: 'btc-perp' })))
      const short = { symbol: 'ETH', side: 'sell', kind: 'market', limitPrice: null } as const
      await accepted(
        fixture,
        broker.submit(entryOf('entry2', { ...short, quantity: units(0.5) as Quantity })),
      )
      const account = await run(broker.account())
      expect(account?.positions).toMatchObject([
        { symbol: 'btc-perp', direction: 'long', quantity: units(0.05) },
        { symbol: 'ETH', direction: 'short', quantity: units(0.5) },
      ])
      expect(account?.positions.every(({ leverage, entryPrice }) => leverage >= 1 && entryPrice > 0n)).toBe(
        true,
      )
      expect(account?.equity).toBeLessThan(10_000_000_000n)
    })

    it('with liquidations, also of a position that no look at the account has shown', async () => {
      const fixture = await openFixture()
      const { broker, run } = fixture
      await accepted(fixture, broker.submit(entryOf('entry1')))
      fixture.liquidate('BTC')
      for (let sweep = 0; sweep < 2; sweep += 1) {
        expect((await run(broker.account()))?.positions).toEqual([])
        const history = await run(broker.history())
        expect(sumOf(history?.liquidations ?? [])).toBe(units(0.05))
        expect(
          history?.liquidations.every(({ symbol, direction }) => `${symbol} ${direction}` === 'BTC long'),
        ).toBe(true)
      }
    })

    it('as a whole or not at all', async () => {
      const { broker, run, addFault } = await openFixture()
      addFault('account', 'server_error_before', 1)
      expect(await run(broker.account())).toBeNull()
      expect(await run(broker.account())).not.toBeNull()
    })
  })

  describe(`${name} tells what symbols trade at`, () => {
    it('in the spelling of the configuration, without those that it does not trade', async () => {
      const { broker, run, setPrice } = await openFixture()
      await run(broker.preflight(['BTC']))
      const step = broker.stepsOf('BTC')?.priceStep ?? 1n
      const price = units(61_234.5) - (units(61_234.5) % step)
      setPrice('BTC', price)
      const quotes = await run(broker.quotes(['btc-perp', 'ETH', 'NOPE']))
      expect(quotes.map(({ symbol }) => symbol)).toEqual(['btc-perp', 'ETH'])
      expect(quotes[0]?.price).toBe(price)
    })

    it('or nothing, and does not reject', async () => {
      const { broker, run, addFault } = await openFixture()
      await run(broker.preflight(['BTC']))
      addFault('any', 'drop_before')
      expect(await run(broker.quotes(['BTC']))).toEqual([])
    })
  })

  it(`${name} sends nothing after it was closed, and still returns results`, async () => {
    const fixture = await openFixture()
    const { broker, run } = fixture
    await run(broker.preflight(['BTC']))
    await broker.close()
    await broker.close()
    expect((await run(broker.submit(entryOf('entry1')))).status).toBe('not_sent')
    expect((await run(broker.lookup(entryOf('entry1')))).status).toBe('unclear')
    expect((await run(broker.cancel(entryOf('entry1')))).status).toBe('unclear')
    expect(await run(broker.account())).toBeNull()
    expect(await run(broker.history())).toBeNull()
    expect(await run(broker.quotes(['BTC']))).toEqual([])
    expect(fixture.orders()).toEqual([])
  })

  brokerDeadlineContract(name, openFixture)
  brokerMarginContract(name, openFixture)
  brokerStopsContract(name, openFixture)
  brokerFaultsContract(name, openFixture)
  brokerRandomFaultsContract(name, openFixture)
}

const CHECKS = ['reachable', 'markets', 'permissions', 'balance', 'clock', 'minimum_sizes']

const accepted = async (fixture: BrokerFixture, sent: ReturnType<Broker['submit']>): Promise<OrderReport> => {
  const result = await fixture.run(sent)
  if (result.status !== 'accepted') throw new Error(`it was ${result.status}: ${result.reason}`)
  return result.report
}

const found = async (fixture: BrokerFixture, clientOrderId: string): Promise<OrderReport> => {
  const result = await fixture.run(fixture.broker.lookup(entryOf(clientOrderId)))
  if (result.status !== 'found') throw new Error(`it was ${result.status}`)
  return result.report
}
