import { describe, expect, it } from 'vitest'
import type { PayloadOf } from '../core/events/catalogue.ts'
import type { StrategyProposal } from '../core/strategies/strategy.ts'
import { causeText, ignoredText, Notices, reductionTexts, stopNotice, unprotectedText } from './notices.ts'

const order = (limits: Record<string, number>, boundBy: readonly string[], symbol = 'BTC') =>
  ({ symbol, limits, sizing: { bound_by: boundBy } }) as unknown as PayloadOf<'execution.order_submitted.v1'>

const proposal = (changes: Partial<StrategyProposal> = {}): StrategyProposal => ({
  symbol: 'BTC',
  side: 'long',
  conviction: 75,
  sizePct: 0.1,
  stopPct: 0.05,
  ...changes,
})

describe('a size that was cut', () => {
  it('is reported with the limit, how often, and the largest cut', () => {
    const notices = new Notices()
    notices.ordered(order({ size_pct: 9500, heat: 540 }, ['heat']), '2024-02-04T10:00:00.000Z')
    notices.ordered(order({ size_pct: 2000, heat: 540 }, ['heat']), '2024-02-05T10:00:00.000Z')
    notices.ordered(order({ size_pct: 2000, kelly: 1000 }, ['kelly'], 'ETH'), '2024-02-06T10:00:00.000Z')
    expect(reductionTexts(notices.reductions())).toEqual([
      '2 entries by heat, the most from 9,500 to 540 USD (BTC, 2024-02-04T10:00)',
      'one entry by kelly, from 2,000 to 1,000 USD (ETH, 2024-02-06T10:00)',
    ])
  })

  it('is none where the size is what was asked for', () => {
    const notices = new Notices()
    notices.ordered(order({ size_pct: 500, heat: 500 }, ['size_pct', 'heat']), '')
    expect(notices.reductions()).toEqual([])
  })
})

describe('a request that changes an open position', () => {
  const ignoredAfter = (...later: readonly Partial<StrategyProposal>[]) => {
    const notices = new Notices()
    notices.entered(proposal())
    for (const changes of later) notices.ignored(proposal(changes))
    return ignoredText(notices.ignoredRequests())
  }

  it('is counted by what it asks for', () => {
    expect(ignoredAfter({}, {})).toBeNull()
    expect(ignoredAfter({ sizePct: 0.2 }, { sizePct: 0.3, stopPct: 0.02 }, { targetPct: 0.1 })).toBe(
      'another size 2 times, another stop once, another target once: an open position keeps the values of its entry',
    )
  })

  it('is none where a stop at the same price is described by another distance', () => {
    const notices = new Notices()
    notices.entered(proposal({ stopPrice: 95, stopPct: 0.05 }))
    notices.ignored(proposal({ stopPrice: 95, stopPct: 0.07 }))
    expect(ignoredText(notices.ignoredRequests())).toBeNull()
    notices.ignored(proposal({ stopPrice: 96, stopPct: 0.05 }))
    expect(ignoredText(notices.ignoredRequests())).toContain('another stop once')
  })
})

describe('a position without a stop', () => {
  const textOf = (equityShare: number, stop: number | null = null) => {
    const notices = new Notices()
    const opened = { asset: 'BTC', stop_loss: stop } as unknown as PayloadOf<'execution.position_opened.v1'>
    const limits = { heat: 1, drawdown: 0.2 }
    notices.opened(opened, { at: '2024-02-04T10:00:00.000Z', equityShare, limits })
    return unprotectedText(notices.unprotected())
  }

  it('is reported near full size, with the loss that raises the kill switch', () => {
    expect(textOf(0.95)).toContain('BTC was entered without a stop at 95 % of equity (2024-02-04T10:00)')
    expect(textOf(0.95)).toContain('a loss of 5 % of equity raises the kill switch')
  })

  it('is not where the drawdown is reached first, or where there is a stop', () => {
    expect(textOf(0.7)).toBeNull()
    expect(textOf(0.95, 90)).toBeNull()
  })
})

describe('a stop by the kill switch', () => {
  const stops = {
    level: 2,
    stops: 1,
    first_stop_at: '2024-02-04T20:45:00.000Z',
    first_stop_cause: causeText([{ name: 'max_drawdown_pct', value: 0.0312, threshold: 0.03 }]),
    trades_before_stop: 3,
    lowered: 0,
  }

  it('is the first line of the report, with day, trades and cause', () => {
    expect(stopNotice(stops, false)).toBe(
      'stopped by the kill switch on 4 February 2024 after 3 trades: drawdown 3.1 % (limit 3 %); nothing was entered ' +
        'from then on',
    )
    expect(stopNotice({ ...stops, stops: 4, lowered: 4 }, true)).toBe(
      'stopped by the kill switch 4 times, first on 4 February 2024 after 3 trades: drawdown 3.1 % (limit 3 %); a ' +
        'simulated operator lowered it at the next midnight UTC, 4 times',
    )
    expect(stopNotice({ ...stops, stops: 0 }, true)).toBeNull()
  })

  it('names every cause with its unit', () => {
    const triggers = [
      { name: 'loss_streak', value: 3, threshold: 3 },
      { name: 'daily_loss_pct', value: 0.05, threshold: 0.04 },
    ]
    expect(causeText(triggers)).toBe('3 losses in a row (limit 3), loss of the day 5 % (limit 4 %)')
    expect(causeText([])).toBeNull()
  })
})
