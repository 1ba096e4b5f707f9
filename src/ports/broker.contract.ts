import { afterEach, describe, expect, it } from 'vitest'
import { brokerFaultsContract } from './broker.faults.contract.ts'
import { entryOf, exitOf, sumOf, tradesIn, units, type BrokerStage } from './broker.fixture.ts'
import { brokerStormContract } from './broker.storm.contract.ts'
import type { Broker, OrderReport } from './broker.ts'

/** What every broker does. Each adapter runs this. */
export const brokerContract = (name: string, open: () => Promise<BrokerStage>): void => {
  const stages: BrokerStage[] = []
  const stageOf = async (): Promise<BrokerStage> => {
    const stage = await open()
    stages.push(stage)
    return stage
  }
  afterEach(async () => {
    for (const stage of stages.splice(0)) {
      await stage.broker.close()
      await stage.close()
    }
  })

  describe(`${name}, before anything is sent,`, () => {
    it('passes every check of a venue that is well', async () => {
      const { broker, run } = await stageOf()
      const checks = await run(broker.preflight(['BTC', 'ETH']))
      expect(checks.filter(({ ok }) => !ok)).toEqual([])
      expect(checks.map((check) => check.name)).toEqual(CHECKS)
      expect(checks.every(({ detail }) => detail.length > 0)).toBe(true)
    })

    it('says what does not pass, and does not reject', async () => {
      const { broker, run, trouble } = await stageOf()
      const unlisted = await run(broker.preflight(['BTC', 'NOPE']))
      expect(unlisted.find((check) => check.name === 'markets')).toMatchObject({ ok: false })
      expect(JSON.stringify(unlisted)).toContain('NOPE')
      trouble('any', 'drop_before')
      const down = await run(broker.preflight(['BTC']))
      expect(down.map(({ ok }) => ok)).toEqual(CHECKS.map(() => false))
    })

    it('knows the steps of what is traded, and of nothing else', async () => {
      const { broker, run } = await stageOf()
      expect(broker.stepsOf('BTC')).toBeNull()
      await run(broker.preflight(['BTC', 'ETH']))
      const steps = broker.stepsOf('btc/usdt')
      expect(steps?.quantityStep).toBeGreaterThan(0n)
      expect(steps?.priceStep).toBeGreaterThan(0n)
      expect(broker.stepsOf('NOPE')).toBeNull()
    })
  })

  describe(`${name} sends orders`, () => {
    it('and tells every fill with its price and fee', async () => {
      const stage = await stageOf()
      const report = await accepted(stage, stage.broker.submit(entryOf('entry-1')))
      expect(report).toMatchObject({ clientOrderId: 'entry-1', status: 'filled' })
      expect(report.filledQuantity).toBe(units(0.05))
      expect(tradesIn(report.fills)).toEqual(stage.tradesOf('entry-1'))
      expect(report.fills.every(({ feeUsd, atMs }) => feeUsd > 0n && atMs > 0)).toBe(true)
    })

    it('without a preflight as well', async () => {
      const stage = await stageOf()
      await accepted(stage, stage.broker.submit(exitOf('entry-1', { side: 'buy', reduceOnly: false })))
      expect(stage.orders()).toHaveLength(1)
    })

    it('never larger, never at a worse limit than was asked for', async () => {
      const stage = await stageOf()
      const asked = { quantity: 5_049_999n, limitPrice: units(60_300.09) }
      await accepted(stage, stage.broker.submit(entryOf('buy-1', asked)))
      await accepted(
        stage,
        stage.broker.submit(entryOf('sell-1', { ...asked, side: 'sell', limitPrice: units(59_700.01) })),
      )
      const [bought, sold] = stage.orders()
      expect(bought?.quantity).toBe(units(0.05))
      expect(bought?.limitPrice).toBeLessThanOrEqual(asked.limitPrice)
      expect(sold?.limitPrice).toBeGreaterThanOrEqual(units(59_700.01))
    })

    it('that end at once when the price is beyond their limit', async () => {
      const stage = await stageOf()
      stage.setPrice('BTC', units(60_400))
      const report = await accepted(stage, stage.broker.submit(entryOf('entry-1')))
      expect(report).toMatchObject({ status: 'canceled', filledQuantity: 0n, fills: [] })
    })

    it('but none that is smaller than the venue takes', async () => {
      const stage = await stageOf()
      for (const quantity of [1n, units(0.0009)]) {
        const answer = await stage.run(stage.broker.submit(entryOf('small', { quantity })))
        expect(answer.status).toBe('rejected')
      }
      expect(stage.orders()).toEqual([])
    })

    it('that only make a position smaller', async () => {
      const stage = await stageOf()
      const { broker, run } = stage
      expect((await run(broker.submit(exitOf('exit-0')))).status).toBe('rejected')
      await accepted(stage, broker.submit(entryOf('entry-1')))
      const report = await accepted(stage, broker.submit(exitOf('exit-1', { quantity: units(0.2) })))
      expect(sumOf(report.fills)).toBe(units(0.05))
      expect((await run(broker.account()))?.positions).toEqual([])
    })

    it('and says no for what the venue does not trade any more', async () => {
      const stage = await stageOf()
      await stage.run(stage.broker.preflight(['BTC', 'ETH']))
      stage.delist('BTC')
      expect((await stage.run(stage.broker.submit(entryOf('entry-1')))).status).toBe('rejected')
      expect(stage.broker.stepsOf('BTC')).toBeNull()
      expect(stage.broker.stepsOf('ETH')).not.toBeNull()
    })
  })

  describe(`${name} looks orders up`, () => {
    it('as they were told when they were sent', async () => {
      const stage = await stageOf()
      const report = await accepted(stage, stage.broker.submit(entryOf('entry-1')))
      expect(await stage.run(stage.broker.lookup(entryOf('entry-1')))).toEqual({ status: 'found', report })
    })

    it('and does not find what was never sent', async () => {
      const stage = await stageOf()
      const answer = await stage.run(stage.broker.lookup(entryOf('never-1')))
      expect(answer).toEqual({ status: 'not_found' })
    })

    it('while they rest, and when they went on', async () => {
      const stage = await stageOf()
      stage.trouble('submit', 'part_then_open', 1)
      const first = await accepted(stage, stage.broker.submit(entryOf('entry-1')))
      expect(first.status).toBe('partial')
      stage.fillRest('entry-1')
      const second = await found(stage, 'entry-1')
      expect(second).toMatchObject({ status: 'filled', filledQuantity: units(0.05) })
      expect(tradesIn(second.fills)).toEqual(stage.tradesOf('entry-1'))
    })
  })

  describe(`${name} cancels`, () => {
    it('what is left of an order, and tells what was filled', async () => {
      const stage = await stageOf()
      stage.trouble('submit', 'part_then_open', 1)
      await accepted(stage, stage.broker.submit(entryOf('entry-1')))
      const answer = await stage.run(stage.broker.cancel(entryOf('entry-1')))
      expect(answer.status).toBe('canceled')
      const report = answer.status === 'canceled' ? answer.report : null
      expect(report?.status).toBe('canceled')
      expect(tradesIn(report?.fills ?? [])).toEqual(stage.tradesOf('entry-1'))
    })

    it('nothing that has ended or never was', async () => {
      const stage = await stageOf()
      await accepted(stage, stage.broker.submit(entryOf('entry-1')))
      for (const id of ['entry-1', 'never-1']) {
        expect(await stage.run(stage.broker.cancel(entryOf(id)))).toEqual({ status: 'not_open' })
      }
    })
  })

  describe(`${name} tells the account`, () => {
    it('with what is held, in the spelling that was asked for', async () => {
      const stage = await stageOf()
      const { broker, run } = stage
      await run(broker.preflight(['btc-perp', 'ETH']))
      expect(await run(broker.account())).toMatchObject({ equity: 10_000_000_000n, positions: [] })
      await accepted(stage, broker.submit(entryOf('entry-1', { symbol: 'btc-perp' })))
      const short = { symbol: 'ETH', side: 'sell', kind: 'market', limitPrice: null } as const
      await accepted(stage, broker.submit(entryOf('entry-2', { ...short, quantity: units(0.5) })))
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

    it('with what the venue closed by force', async () => {
      const stage = await stageOf()
      const { broker, run } = stage
      await accepted(stage, broker.submit(entryOf('entry-1')))
      expect((await run(broker.account()))?.liquidations).toEqual([])
      stage.liquidate('BTC')
      for (let sweep = 0; sweep < 2; sweep += 1) {
        const account = await run(broker.account())
        expect(account?.positions).toEqual([])
        expect(sumOf(account?.liquidations ?? [])).toBe(units(0.05))
        expect(
          account?.liquidations?.every(({ symbol, direction }) => `${symbol} ${direction}` === 'BTC long'),
        ).toBe(true)
      }
    })

    it('or nothing, rather than half of it', async () => {
      const { broker, run, trouble } = await stageOf()
      trouble('account', 'server_error_before', 1)
      expect(await run(broker.account())).toBeNull()
      expect(await run(broker.account())).not.toBeNull()
    })
  })

  it(`${name} sends nothing after it was closed, and still answers`, async () => {
    const stage = await stageOf()
    const { broker, run } = stage
    await run(broker.preflight(['BTC']))
    await broker.close()
    await broker.close()
    expect((await run(broker.submit(entryOf('entry-1')))).status).toBe('rejected')
    expect((await run(broker.lookup(entryOf('entry-1')))).status).toBe('unclear')
    expect((await run(broker.cancel(entryOf('entry-1')))).status).toBe('unclear')
    expect(await run(broker.account())).toBeNull()
    expect(stage.orders()).toEqual([])
  })

  brokerFaultsContract(name, stageOf)
  brokerStormContract(name, stageOf)
}

const CHECKS = ['reachable', 'markets', 'permissions', 'balance', 'clock', 'minimum_sizes']

const accepted = async (stage: BrokerStage, sent: ReturnType<Broker['submit']>): Promise<OrderReport> => {
  const answer = await stage.run(sent)
  if (answer.status !== 'accepted') throw new Error(`it was ${answer.status}: ${answer.reason}`)
  return answer.report
}

const found = async (stage: BrokerStage, clientOrderId: string): Promise<OrderReport> => {
  const answer = await stage.run(stage.broker.lookup(entryOf(clientOrderId)))
  if (answer.status !== 'found') throw new Error(`it was ${answer.status}`)
  return answer.report
}
