import { describe, expect, it } from 'vitest'
import type { TaskReport } from '../sweep/task.ts'
import { verdictOfResult } from './verdict.ts'

const verdictOf = (changes: object): string =>
  verdictOfResult({
    equity_usd_by_day: [],
    p_value: 0.31,
    trades: 42,
    days: 60,
    held_back: {},
    kill_switch: { level: 0, stops: 0, first_stop_at: null, first_stop_reason: null },
    resets_daily: false,
    ...changes,
  } as unknown as TaskReport).verdict

const stopped = (stops: number) => ({
  kill_switch: {
    level: 2,
    stops,
    first_stop_at: '2024-02-03T20:45:00.000Z',
    first_stop_reason: 'loss_streak=3',
  },
})

describe('the verdict of a backtest', () => {
  it('says why nothing was traded', () => {
    expect(verdictOf({ trades: 0, p_value: 1, held_back: { neutral: 7 } })).toBe(
      'no edge found: p = 1, 0 trades: nothing was traded, most often held back by neutral (7 times)',
    )
  })

  it('says that the kill switch stopped entries, since few trades then say little about the strategy', () => {
    expect(verdictOf({})).toBe('no edge found: p = 0.31, 42 trades')
    expect(verdictOf({ trades: 3, ...stopped(1) })).toBe(
      'no edge found: p = 0.31, 3 trades; the kill switch stopped entries once, first for loss_streak=3, and was not ' +
        'reset daily',
    )
    expect(verdictOf({ ...stopped(13), resets_daily: true })).toBe(
      'no edge found: p = 0.31, 42 trades; the kill switch stopped entries 13 times, first for loss_streak=3',
    )
  })

  it('calls an edge possible only after enough trades and days', () => {
    expect(verdictOf({ p_value: 0.01 })).toMatch(/^an edge is possible: p = 0.01, 42 trades in 60 days/)
    expect(verdictOf({ p_value: 0.01, trades: 29 })).toMatch(/^no edge found: .* are too few to tell$/)
    expect(verdictOf({ p_value: 0.01, days: 29 })).toMatch(/^no edge found: .* are too few to tell$/)
  })
})
