import { describe, expect, it } from 'vitest'
import type { Command } from '../core/decide.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import { barsFrom } from '../core/market/bars.fixture.ts'
import { INITIAL_STATE } from '../core/state.ts'
import type { ParameterValues } from '../core/strategies/strategy.ts'
import type { Executor } from '../engine/plan.ts'
import { strategyOf, unknownStrategy, type StrategyName } from './strategies.ts'

const QUARTER_S = 900
const BEGIN = '2026-01-01T00:00:00.000Z'

/** Proposals of a rule after these closes of analysis bars. */
const askedAfter = async (
  name: StrategyName,
  closes: readonly number[],
  resolutionSeconds = QUARTER_S,
  parameters: ParameterValues = {},
) => {
  const asked: Command[] = []
  const engine: Executor = {
    state: INITIAL_STATE,
    log: { findByDedupeKeys: () => Promise.resolve(new Map()) },
    execute: (command) => {
      asked.push(command)
      return Promise.resolve({ status: 'done', events: [], replayed: false })
    },
  }
  const strategy = strategyOf(name, { engine, configuration: () => DEFAULT_CONFIGURATION, parameters })
  for (const bar of barsFrom(BEGIN, closes, { resolution_s: resolutionSeconds })) strategy.addBars([bar])
  await strategy.decide(0, 0)
  return { asked, again: async () => (asked.splice(0), await strategy.decide(0, 0), asked) }
}

const flat = (count: number): readonly number[] => Array.from({ length: count }, () => 100)

const direction = async (name: StrategyName, closes: readonly number[]) => {
  const { asked } = await askedAfter(name, closes)
  return asked.map((command) =>
    command.kind === 'propose-trade' ? command.proposal.direction : command.kind,
  )
}

describe('momentum', () => {
  it('follows a move of 2 % in 20 bars, either way', async () => {
    expect(await direction('momentum', [100, ...flat(19), 102.1])).toEqual(['long'])
    expect(await direction('momentum', [100, ...flat(19), 97.9])).toEqual(['short'])
  })

  it('does nothing below that, or before 20 bars', async () => {
    expect(await direction('momentum', [100, ...flat(19), 101.9])).toEqual([])
    expect(await direction('momentum', [100, ...flat(18), 150])).toEqual([])
    // A close 21 bars ago no longer counts.
    expect(await direction('momentum', [50, ...flat(20), 100])).toEqual([])
  })
})

describe('ma_crossover', () => {
  it('follows the mean of 10 against the mean of 50', async () => {
    expect(await direction('ma_crossover', [...flat(49), 101])).toEqual(['long'])
    expect(await direction('ma_crossover', [...flat(49), 99])).toEqual(['short'])
    expect(await direction('ma_crossover', flat(50))).toEqual([])
    expect(await direction('ma_crossover', [...flat(48), 101])).toEqual([])
  })
})

describe('a rule', () => {
  it('is as convinced as a position of medium size asks for', async () => {
    const { asked } = await askedAfter('always_long', [100])
    const proposal = { rule: 'always_long', symbol: 'BTC', direction: 'long', conviction: 75 }
    expect(asked).toEqual([{ kind: 'propose-trade', proposal }])
  })

  it('decides at the start of a run on the bar that closed then, although it came as past', async () => {
    const asked: Command[] = []
    const engine: Executor = {
      state: INITIAL_STATE,
      log: { findByDedupeKeys: () => Promise.resolve(new Map()) },
      execute: (command) => {
        asked.push(command)
        return Promise.resolve({ status: 'done', events: [], replayed: false })
      },
    }
    const strategy = strategyOf('always_long', { engine, configuration: () => DEFAULT_CONFIGURATION })
    strategy.addBars(barsFrom(BEGIN, [100, 101], { resolution_s: QUARTER_S, backfill: true }))
    await strategy.decide(0, 0)
    expect(asked).toHaveLength(1)
  })

  it('looks at analysis bars only, and speaks once about each', async () => {
    // After fourteen minutes no analysis bar has closed.
    expect((await askedAfter('always_long', flat(14), 60)).asked).toEqual([])
    const { asked, again } = await askedAfter('always_long', flat(15), 60)
    expect(asked).toHaveLength(1)
    expect(await again()).toEqual([])
  })
})

describe('a strategy that is chosen by name', () => {
  const chosen = (name: string, parameters = {}) => {
    const engine: Executor = {
      state: INITIAL_STATE,
      log: { findByDedupeKeys: () => Promise.resolve(new Map()) },
      execute: () => Promise.resolve({ status: 'done', events: [], replayed: false }),
    }
    return strategyOf(name, { engine, configuration: () => DEFAULT_CONFIGURATION, parameters })
  }

  it('is refused with the nearest name if there is none', () => {
    expect(() => chosen('momentun')).toThrow('no strategy is named momentun, did you mean momentum?')
    expect(unknownStrategy('zzz', ['brain'])).toBe('no strategy is named zzz (there are brain)')
    expect(unknownStrategy('slow=50', ['brain'])).toBe(
      'no strategy is named slow=50: each parameter has a --set of its own (--set slow=50)',
    )
  })

  it('is refused with parameters that it does not have', () => {
    expect(() => chosen('momentum', { bar: '5' })).toThrow('did you mean bars?')
    expect(() => chosen('momentum', { bars: '0' })).toThrow('bars 20, 1 to 1000')
    expect(() => chosen('brain', { bars: '5' })).toThrow('the brain has no parameters')
  })

  it('follows its parameters', async () => {
    const askedWith = async (name: string, closes: readonly number[], parameters: ParameterValues) =>
      (await askedAfter(name, closes, QUARTER_S, parameters)).asked.length
    expect(await askedWith('momentum', [100, 100, 101.5], { bars: 2, threshold: '0.01' })).toBe(1)
    expect(await askedWith('momentum', [100, 100, 101.5], { bars: 2 })).toBe(0)
    expect(await askedWith('ma_crossover', [100, 100, 101], { fast: '1', slow: 3 })).toBe(1)
  })
})

it('holding asks the engine for nothing', async () => {
  expect((await askedAfter('hold', flat(60))).asked).toEqual([])
})
