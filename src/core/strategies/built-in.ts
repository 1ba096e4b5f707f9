import { z } from 'zod'
import { defineStrategy, type Bar, type StrategyDefinition } from './strategy.ts'

/** Follows a large enough move of the last bars. */
const momentum = defineStrategy({
  name: 'momentum',
  description: 'follows the move of the last bars, if it is large enough',
  parameters: z.object({
    bars: z.int().min(1).max(1000).default(20).describe('how many bars the move spans'),
    threshold: z.number().min(0).max(1).default(0.02).describe('the smallest move, as a share of the price'),
  }),
  warmUpBars: ({ bars }) => bars + 1,
  create: ({ bars, threshold }) => {
    const closes = newestCloses(bars + 1)
    return {
      onBar: ({ bar }) => {
        const all = closes.add(bar)
        const before = all.at(-1 - bars)
        if (before === undefined) return null
        const move = bar.close / before - 1
        if (Math.abs(move) < threshold) return null
        return { side: move > 0 ? 'long' : 'short' }
      },
    }
  },
})

/** Long while the mean of few closes is above the mean of many, short while it is below. */
const maCrossover = defineStrategy({
  name: 'ma_crossover',
  description: 'long while the mean of few closes is above the mean of many, short while it is below',
  parameters: z
    .object({
      fast: z.int().min(1).max(1000).default(10).describe('bars of the fast mean'),
      slow: z.int().min(2).max(2000).default(50).describe('bars of the slow mean'),
    })
    .refine(({ fast, slow }) => fast < slow, { error: 'fast must be smaller than slow' }),
  warmUpBars: ({ slow }) => slow,
  create: ({ fast, slow }) => {
    const closes = newestCloses(slow)
    return {
      onBar: ({ bar }) => {
        const all = closes.add(bar)
        if (all.length < slow) return null
        const [quick, calm] = [meanOfLast(all, fast), meanOfLast(all, slow)]
        if (quick === calm) return null
        return { side: quick > calm ? 'long' : 'short' }
      },
    }
  },
})

const alwaysLong = defineStrategy({
  name: 'always_long',
  description: 'is always long, with the sizes, stops and targets of any other',
  parameters: z.object({}),
  warmUpBars: 0,
  create: () => ({ onBar: () => ({ side: 'long' }) }),
})

/** Name of the benchmark that buys the market once, with the whole account. */
export const HOLD = 'hold'

/**
 * Placeholder that decides nothing. A backtest computes it separately, because such a position would exceed the limits
 * of the engine.
 */
const hold = defineStrategy({
  name: HOLD,
  description: 'buys the market once with the whole account, in backtests only',
  parameters: z.object({}),
  warmUpBars: 0,
  create: () => ({ onBar: () => null }),
})

/** Sorted alphabetically. The brain is not included, because it decides on signals instead of bars. */
export const BUILT_IN_STRATEGIES: readonly StrategyDefinition[] = [alwaysLong, hold, maCrossover, momentum]

/** The name of the brain, where a strategy is chosen by name. */
export const BRAIN = 'brain'

export const builtInStrategy = (name: string): StrategyDefinition | undefined =>
  BUILT_IN_STRATEGIES.find((definition) => definition.name === name)

/** Reason why a user's file must not have this name, under which it would never run; null for any other name. */
export const reservedNameFault = (name: string): string | null =>
  name === BRAIN || builtInStrategy(name) !== undefined ? `${name} is the name of a built-in strategy` : null

/** Trimmed only now and then, so that a bar copies nothing. */
const newestCloses = (count: number) => {
  let closes: number[] = []
  return {
    add: ({ close }: Bar): readonly number[] => {
      closes.push(close)
      if (closes.length > 2 * count) closes = closes.slice(-count)
      return closes
    },
  }
}

const meanOfLast = (closes: readonly number[], count: number): number => {
  let sum = 0
  for (let index = closes.length - count; index < closes.length; index += 1) sum += closes[index] ?? 0
  return sum / count
}
