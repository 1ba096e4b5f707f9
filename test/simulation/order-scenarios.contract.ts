import { afterEach, describe, expect, it } from 'vitest'
import { openPositionsOf } from '../../src/core/trading/book.ts'
import type { Floor } from './trading-floor.ts'

/** A place where orders are filled: on paper, or at a venue. */
export interface Ground {
  readonly floor: Floor
  /** Bars of the symbols, at the prices that the venue has from now on. */
  price(prices: Readonly<Record<string, number>>): Promise<void>
  /** Where entries are filled in parts: a part of what waits. */
  fillSome(): Promise<void>
  /** All that is left. */
  fillRest(): Promise<void>
  /** Lets everything happen that follows. */
  settle(): Promise<void>
  /** The next process on the same log. */
  restart(): Promise<Ground>
  close(): Promise<void>
}

export interface GroundOptions {
  /** The first entry is filled in parts. */
  readonly inParts: boolean
}

/** What the engine does with orders, wherever they are filled. */
export const orderScenarios = (name: string, open: (wishes: GroundOptions) => Promise<Ground>): void => {
  let ground: Ground

  const begin = async (inParts = false): Promise<string> => {
    ground = await open({ inParts })
    await ground.price({ BTC: 60_000, ETH: 3000 })
    return enter()
  }
  const enter = async (symbol = 'BTC'): Promise<string> => {
    const intent = await ground.floor.intend({ symbol })
    await ground.settle()
    return intent
  }
  const state = () => ground.floor.engine.state
  const statusOf = (intent: string) => state().trading.intents.get(intent)?.status
  const held = () => openPositionsOf(state().trading)
  const setLevel = (level: 2 | 3) =>
    ground.floor.engine.execute({
      kind: 'set-kill-switch',
      move: { level, reason: 'test', operator: 'op', surface: 'cli' },
    })

  describe(`orders ${name}`, () => {
    afterEach(() => ground.close())

    it('open a position with a stop below and a target above its price', async () => {
      const intent = await begin()
      expect(statusOf(intent)).toBe('filled')
      const [position] = held()
      expect(position?.holding.stopLoss).toBeLessThan(position?.holding.entryPrice ?? 0n)
      expect(position?.holding.takeProfit).toBeGreaterThan(position?.holding.entryPrice ?? 0n)
    })

    it('close it at its stop, and the ledger adds up', async () => {
      await begin()
      await ground.price({ BTC: 56_000, ETH: 3000 })
      await ground.settle()
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
      await ground.price({ BTC: 56_000, ETH: 3000 })
      await ground.settle()
      expect(held()).toEqual([])
    })

    it('close nothing by themselves at level 3, and an operator can', async () => {
      await begin()
      await setLevel(3)
      await ground.price({ BTC: 56_000, ETH: 3000 })
      await ground.settle()
      expect(held()).toHaveLength(1)
      const by = { operator: 'op', surface: 'cli' } as const
      await ground.floor.engine.execute({ kind: 'close-all', by })
      await ground.settle()
      expect(held()).toEqual([])
    })

    it('are filled in parts, and the position grows with them', async () => {
      const intent = await begin(true)
      await ground.fillSome()
      const [waiting] = [...state().trading.orders.open.values()]
      expect(waiting?.status).toBe('partial')
      expect(held()[0]?.holding.quantity).toBe(waiting?.filled)
      await ground.fillRest()
      expect(state().trading.orders.open.size).toBe(0)
      expect(held()[0]?.holding.quantity).toBe(waiting?.quantity)
      expect(statusOf(intent)).toBe('filled')
    })

    it('are canceled by an operator, and what was filled stays', async () => {
      const intent = await begin(true)
      await ground.fillSome()
      const [waiting] = [...state().trading.orders.open.values()]
      const request = { orderId: waiting?.id ?? '', operator: 'op', reason: null, surface: 'cli' } as const
      expect((await ground.floor.engine.execute({ kind: 'cancel-order', request })).status).toBe('done')
      await ground.settle()
      expect(state().trading.orders.open.size).toBe(0)
      expect(state().trading.orders.ended.get(request.orderId)?.status).toBe('canceled')
      expect(held()[0]?.holding.quantity).toBe(waiting?.filled)
      expect(statusOf(intent)).toBe('filled')
      expect((await ground.floor.engine.execute({ kind: 'cancel-order', request })).status).toBe('refused')
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
      ground = await ground.restart()
      await ground.settle()
      expect(state().trading.killSwitch.level).toBe(2)
      expect(held()).toHaveLength(1)
      await ground.price({ BTC: 56_000, ETH: 3000 })
      await ground.settle()
      expect(held()).toEqual([])
    })
  })
}
