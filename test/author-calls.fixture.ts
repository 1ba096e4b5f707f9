import type { Command } from '../src/core/decide.ts'
import { barAt } from '../src/core/market/bars.fixture.ts'
import { nodeId } from '../src/core/shared/brand.ts'
import { timestampAt } from '../src/core/shared/time.ts'
import { builtInRun } from './given.fixture.ts'

/** Engine in which authors make calls and time passes: an engine with the test's clock, or the core alone. */
export interface CallTarget {
  readonly execute: (command: Command) => unknown
  readonly now: () => number
  readonly wait: (ms: number) => void
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

export const AUTHORS = ['ann', 'bob', 'carl'] as const

/** The time that a day of `playAuthorCalls` takes. */
export const PLAYED_DAY_MS = 25 * HOUR_MS + MINUTE_MS

/**
 * Ann is right on three days of four, and Bob repeats her an hour later. Carl has his own symbol and is right on every
 * other day. A producer says the opposite of Ann.
 */
export const playAuthorCalls = async (
  target: CallTarget,
  days: number,
  names: Partial<Readonly<Record<(typeof AUTHORS)[number], string>>> = {},
): Promise<void> => {
  for (const node of AUTHORS) {
    await target.execute({
      kind: 'register-contributor',
      registration: { nodeId: nodeId(node), name: names[node] ?? node, role: 'curator', metadata: {} },
      surface: 'api',
    })
  }
  const prices = { BTC: 100, ETH: 50 }
  const barsAfter = (ms: number): unknown => {
    target.wait(ms)
    const openTs = timestampAt(target.now() - MINUTE_MS)
    const bars = Object.entries(prices).map(([symbol, close]) =>
      barAt(openTs, close, { symbol, open: close, high: close, low: close }),
    )
    return target.execute({ kind: 'observe-bars', observation: { feed: 'ccxt:testvenue', bars } })
  }
  const say = (node: string, symbol: 'BTC' | 'ETH', isUp: boolean, conviction: number): unknown =>
    target.execute({
      kind: 'submit-signal',
      submission: {
        eventType: 'signal.curator.v1',
        nodeId: nodeId(node),
        ts: null,
        source: null,
        payload: { symbol, direction: isUp ? 'bullish' : 'bearish', conviction, rationale: 'test' },
        dedupeKey: null,
      },
    })
  for (let day = 0; day < days; day += 1) {
    const [isUp, isRight] = [day % 2 === 0, day % 4 !== 3]
    await barsAfter(MINUTE_MS)
    await say('ann', 'BTC', isUp, 5 + (day % 5))
    await say('carl', 'ETH', day % 3 === 0, 2 + (day % 7))
    const contrary = { symbol: 'BTC', rsi_14: isUp ? 75 : 25 }
    await target.execute(
      builtInRun('technical-analysis', 'signal.ta.v1', contrary, { ts: timestampAt(target.now()) }),
    )
    await barsAfter(HOUR_MS)
    await say('bob', 'BTC', isUp, 6)
    prices.BTC *= isUp === isRight ? 1.1 : 1 / 1.1
    prices.ETH *= (day % 3 === 0) === (day % 2 === 0) ? 1.1 : 1 / 1.1
    for (const hours of [3, 20, 1]) await barsAfter(hours * HOUR_MS)
  }
}
