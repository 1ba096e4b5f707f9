import { orderId, intentId } from '../../src/core/shared/brand.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { openPositionsOf } from '../../src/core/trading/positions/book.ts'
import type { LiveEngine } from './live-engine.fixture.ts'

/** An engine whose orders are filled on paper or at a venue. */
export interface ScenarioFixture {
  readonly live: LiveEngine
  /** Delivers bars of the symbols at these prices, which the venue then has. */
  price(prices: Readonly<Record<string, number>>): Promise<void>
  /** Fills a part of the open orders, where entries are filled in parts. */
  fillSome(): Promise<void>
  /** Fills the rest. */
  fillRest(): Promise<void>
  /** Waits until all consequences are processed. */
  settle(): Promise<void>
  /** Starts the next process on the same log. */
  restart(): Promise<ScenarioFixture>
  close(): Promise<void>
}

export interface ScenarioOptions {
  /** True if the first entry is filled in parts. */
  readonly inParts: boolean
}

/** Scenarios of orders that the engine must pass, wherever its orders are filled. */
export const orderScenarios = (
  name: string,
  open: (options: ScenarioOptions) => Promise<ScenarioFixture>,
): void => {
  let fixture: ScenarioFixture

  const begin = async (inParts = false): Promise<string> => {
    fixture = await open({ inParts })
    await fixture.price({ BTC: 60_000, ETH: 3000 })
    return enter()
  }
  const enter = async (symbol = 'BTC'): Promise<string> => {
    const intent = await fixture.live.submitIntent({ symbol })
    await fixture.settle()
    return intent
  }
  const state = () => fixture.live.engine.state
  const statusOf = (intent: string) => state().trading.intents.get(intentId(intent))?.status
  const held = () => openPositionsOf(state().trading)
  const setLevel = (level: 2 | 3) =>
    fixture.live.engine.execute({
      kind: 'set-kill-switch',
      move: { level, reason: 'test', operator: 'op', surface: 'cli' },
    })

  describe(`orders ${name}`, () => {
    afterEach(() => fixture.close())

    it('open a position with a stop below and a target above its price', async () => {
      const intent = await begin()
      expect(statusOf(intent)).toBe('filled')
      const [position] = held()
      expect(position?.holding.stopLoss).toBeLessThan(position?.holding.entryPrice ?? 0n)
      expect(position?.holding.takeProfit).toBeGreaterThan(position?.holding.entryPrice ?? 0n)
    })

    it('close it at its stop, and the ledger adds up', async () => {
      await begin()
      await fixture.price({ BTC: 56_000, ETH: 3000 })
      await fixture.settle()
      expect(held()).toEqual([])
      const {
        trading: { ledger },
      } = state()
      expect(ledger.cash).toBe(ledger.startBalance + ledger.realized)
      expect(ledger.realized).toBeLessThan(0n)
    })

    it('open nothing from level 2 on, and still close', async () => {
      await begin()
      await setLevel(2)
      expect(statusOf(await enter('ETH'))).toBe('rejected')
      await fixture.price({ BTC: 56_000, ETH: 3000 })
      await fixture.settle()
      expect(held()).toEqual([])
    })

    it('close nothing by themselves at level 3, and an operator can', async () => {
      await begin()
      await setLevel(3)
      await fixture.price({ BTC: 56_000, ETH: 3000 })
      await fixture.settle()
      expect(held()).toHaveLength(1)
      const by = { operator: 'op', surface: 'cli' } as const
      await fixture.live.engine.execute({ kind: 'close-all', by })
      await fixture.settle()
      expect(held()).toEqual([])
    })

    it('are filled in parts, and the position grows with them', async () => {
      const intent = await begin(true)
      await fixture.fillSome()
      const [waiting] = [...state().trading.orders.open.values()]
      expect(waiting?.status).toBe('partial')
      expect(held()[0]?.holding.quantity).toBe(waiting?.filled)
      await fixture.fillRest()
      expect(state().trading.orders.open.size).toBe(0)
      expect(held()[0]?.holding.quantity).toBe(waiting?.quantity)
      expect(statusOf(intent)).toBe('filled')
    })

    it('are canceled by an operator, and what was filled stays', async () => {
      const intent = await begin(true)
      await fixture.fillSome()
      const [waiting] = [...state().trading.orders.open.values()]
      const request = {
        orderId: orderId(waiting?.id ?? ''),
        operator: 'op',
        reason: null,
        surface: 'cli',
      } as const
      expect((await fixture.live.engine.execute({ kind: 'cancel-order', request })).status).toBe('done')
      await fixture.settle()
      expect(state().trading.orders.open.size).toBe(0)
      expect(state().trading.orders.ended.get(request.orderId)?.status).toBe('canceled')
      expect(held()[0]?.holding.quantity).toBe(waiting?.filled)
      expect(statusOf(intent)).toBe('filled')
      expect((await fixture.live.engine.execute({ kind: 'cancel-order', request })).status).toBe('refused')
    })

    it('are not even made for a symbol without a price', async () => {
      await begin()
      expect(statusOf(await enter('HYPE'))).toBe('rejected')
      expect(state().trading.orders.open.size).toBe(0)
      expect(held()).toHaveLength(1)
    })

    it('are the same after a restart', async () => {
      await begin()
      await setLevel(2)
      fixture = await fixture.restart()
      await fixture.settle()
      expect(state().trading.killSwitch.level).toBe(2)
      expect(held()).toHaveLength(1)
      await fixture.price({ BTC: 56_000, ETH: 3000 })
      await fixture.settle()
      expect(held()).toEqual([])
    })
  })
}
