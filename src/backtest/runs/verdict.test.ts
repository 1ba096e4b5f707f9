import { describe, expect, it } from 'vitest'
import type { TaskReport } from '../sweep/task.ts'
import { verdictOfResult } from './verdict.ts'

const REPORT = {
  strategy: 'momentum',
  p_value: 0.01,
  trades: 40,
  days: 60,
  total_return: 0.5,
  held_back: {},
  kill_switch: { level: 0, stops: 0, first_stop_at: null, first_stop_reason: null },
  resets_daily: false,
  equity_usd_by_day: [],
}

const verdictOf = (given: Partial<Record<keyof typeof REPORT, unknown>>) =>
  verdictOfResult({ ...REPORT, ...given } as unknown as TaskReport)

const stopped = (stops: number) => ({
  kill_switch: {
    level: 2,
    stops,
    first_stop_at: '2024-02-03T20:45:00.000Z',
    first_stop_reason: 'loss_streak=3',
  },
})

describe('the verdict of a backtest', () => {
  it.each([
    [{}, true, 'an edge is possible: p = 0.01, 40 trades in 60 days'],
    [{ p_value: 0.2 }, false, 'no edge found: p = 0.2, 40 trades'],
    [{ trades: 29 }, false, 'p = 0.01, 29 trades in 60 days are too few to tell'],
    [{ days: 29 }, false, 'p = 0.01, 40 trades in 29 days are too few to tell'],
    [{ days: 7, p_value: null }, false, 'no edge found: 40 trades in 7 days are too few to tell'],
    [{ days: 7, p_value: null, trades: 0 }, false, 'no edge found: 0 trades: nothing was traded'],
    [{ trades: 1 }, false, 'p = 0.01, 1 trade in 60 days are too few to tell'],
    [
      { trades: 0, held_back: { coverage: 9 } },
      false,
      'nothing was traded, most often held back by coverage (9',
    ],
  ])('of %j finds an edge: %j', (given, isFound, text) => {
    expect(verdictOf(given)).toEqual({
      edge_found: isFound,
      verdict: expect.stringContaining(text) as string,
    })
  })

  it('of holding the market says that it was held, not that nothing was traded', () => {
    const { verdict, edge_found } = verdictOf({ strategy: 'hold', trades: 0 })
    expect(edge_found).toBe(false)
    expect(verdict).toContain('holding the market is what others are compared with; it came to 50.00 %')
  })

  it('says that the kill switch stopped entries, since few trades then say little about the strategy', () => {
    expect(verdictOf({}).verdict).not.toMatch(/kill switch/)
    expect(verdictOf({ p_value: 0.31, trades: 3, ...stopped(1) }).verdict).toBe(
      'no edge found: p = 0.31, 3 trades; the kill switch stopped entries once, first for loss_streak=3, and was not ' +
        'reset daily',
    )
    expect(verdictOf({ p_value: 0.31, ...stopped(13), resets_daily: true }).verdict).toBe(
      'no edge found: p = 0.31, 40 trades; the kill switch stopped entries 13 times, first for loss_streak=3',
    )
  })
})
