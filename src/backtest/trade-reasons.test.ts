import { describe, expect, it } from 'vitest'
import { BUILT_IN_PRODUCERS } from '../adapters/producers/all.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import type { KnownEvent } from '../core/events/catalogue.ts'
import type { Stamped } from '../core/log/event.ts'
import { minuteBars } from './minute-bars.fixture.ts'
import { RecordedBarsFeed } from './recorded-feed.fixture.ts'
import { backtest, WARM_UP_BARS } from './run.ts'
import { EXPLAINED_MAX, TradeReasons } from './trade-reasons.ts'

describe('why a trade was opened', () => {
  it('is what the cycle that wanted it had before it, with the strongest signals', async () => {
    const { universe, ta, brain, kill_switch } = DEFAULT_CONFIGURATION
    const events: Stamped[] = []
    const { account } = await backtest({
      strategy: 'brain',
      feed: new RecordedBarsFeed(
        minuteBars({ seed: 3, count: WARM_UP_BARS + 1500, sigma: 0.004, hasSideValues: true }),
      ),
      producers: BUILT_IN_PRODUCERS,
      settings: {
        ...DEFAULT_CONFIGURATION,
        universe: { ...universe, symbols: ['BTC'] },
        ta: { ...ta, bar_seconds: 60 },
        brain: { ...brain, min_domains: 1, tiers: [51, 60, 90], cycle_interval_seconds: 300 },
        kill_switch: { ...kill_switch, l2_loss_streak: 0 },
      },
      version: 'test',
      fromMs: null,
      toMs: null,
      resetsDaily: true,
      onError: (message) => expect.fail(message),
      onEvents: (some) => events.push(...some),
    })
    expect(account.trades.length).toBeGreaterThan(0)
    const opened = events.filter(({ type }) => type === 'execution.position_opened.v1')
    for (const trade of account.trades) {
      const position = opened.find(({ recordedAt }) => recordedAt === trade.opened_at)
      const conviction = events.find(({ id }) => id === position?.payload['conviction_id'])?.payload
      const { inputs = [], pcs_score } = (conviction ?? {}) as {
        readonly inputs?: readonly { readonly contribution: number }[]
        readonly pcs_score?: number
      }
      expect(trade.why).toMatchObject({
        by: 'brain',
        conviction: conviction?.['effective_conviction'],
        case: { pcs_score },
        sizing: { bound_by: expect.any(Array) },
      })
      const strongest = inputs
        .map(({ contribution }) => Math.abs(contribution))
        .toSorted((one, other) => other - one)
      expect(trade.why?.inputs.map(({ contribution }) => Math.abs(contribution))).toEqual(
        strongest.slice(0, 8),
      )
      expect(trade.why?.inputs_left_out).toBe(Math.max(0, inputs.length - 8))
    }
  })

  it('is kept of the first thousand, and of none that belongs to another intent', () => {
    const reasons = new TradeReasons()
    const intent = (id: string): KnownEvent =>
      ({
        type: 'execution.trade_intent.v1',
        source: 'mine',
        payload: { symbol: 'BTC', conviction_id: id, rationale: 'x', signal_ids: [] },
      }) as unknown as KnownEvent
    const opened = (id: string) => ({ asset: 'BTC', conviction_id: id }) as never
    reasons.take(intent('mine:1'))
    expect(reasons.of(opened('mine:2'))).toBeNull()
    for (let count = 0; count < EXPLAINED_MAX; count += 1)
      expect(reasons.of(opened('mine:1'))).toMatchObject({ by: 'mine', rationale: 'x' })
    expect(reasons.of(opened('mine:1'))).toBeNull()
  })
})
