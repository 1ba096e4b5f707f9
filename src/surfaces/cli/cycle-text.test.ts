import { expect, it } from 'vitest'
import type { CycleView } from '../../core/views/brain.ts'
import { cycleText } from './cycle-text.ts'
import { PLAIN } from './style.ts'

const QUIET: CycleView = {
  cycle_id: 'c-1',
  ts: '2026-02-20T00:30:00.000Z',
  intents: [],
  regime: null,
  kill_switch_level: 0,
}

it('says that a cycle wants nothing', () => {
  expect(cycleText(QUIET, PLAIN)).toBe(
    'Cycle        c-1\nStarted at   2026-02-20T00:30:00.000Z\nRegime       unknown\n' +
      'Kill switch  level 0\nIntents      none\n',
  )
})

it('lists what it wants, and why it does not get it', () => {
  const intent = {
    intent_id: 'i-1',
    symbol: 'BTC',
    direction: 'long',
    size_pct: 0.05,
    leverage: 2,
    conviction_score: 78.25,
    regime: 'BULL',
    rationale: 'x',
    stop_loss_pct: 0.05,
    take_profit_pct: 0.1,
    valid_until: '2026-02-20T00:45:00.000Z',
    status: 'rejected',
    reasons: ['dcg_symbol', 'no_price'],
    position_id: null,
  } as const
  const text = cycleText(
    { ...QUIET, regime: 'BULL', intents: [{ ...intent, reasons: [...intent.reasons] }] },
    PLAIN,
  )
  expect(text).toContain('Intents      1\n\n')
  expect(text.split('\n').slice(-3)).toEqual([
    'Symbol  Direction  Conviction  Size %  Status    Reasons               Intent',
    'BTC     long             78.3    5.00  rejected  dcg_symbol, no_price  i-1',
    '',
  ])
})
