import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Proposal } from '../core/brain/propose-trade.ts'
import type { Configuration } from '../core/config/schema.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import { run, type RunResult } from '../core/run.ts'
import { signalId } from '../core/shared/brand.ts'
import type { DecisionContext } from '../core/shared/decision-context.ts'
import { timestampAt } from '../core/shared/time.ts'
import { isLive } from '../core/trading/orders/intents.ts'
import { sha256Hex } from '../engine/sha256.ts'
import { BACKTEST_NODE, BacktestEngine } from './backtest-engine.ts'
import { minuteBars } from './minute-bars.fixture.ts'
import { RecordedBarsFeed } from './recorded-feed.fixture.ts'
import { backtest } from './run.ts'
import { tradedAtOnce } from './trades-at-once.ts'

type Changes = { readonly [Section in keyof Configuration]?: Partial<Configuration[Section]> }

const base = DEFAULT_CONFIGURATION

/** A kill switch with limits so wide that trading goes on all the time. */
const settingsWith = (changes: Changes): Configuration => ({
  ...base,
  universe: { ...base.universe, symbols: ['BTC', 'ETH'] },
  ta: { ...base.ta, bar_seconds: 60 },
  kill_switch: {
    ...base.kill_switch,
    l2_loss_streak: 0,
    l1_daily_loss_pct: 0.9,
    l3_max_drawdown_pct: 0.95,
    ...changes.kill_switch,
  },
  risk: { ...base.risk, max_drawdown_pct: 0.95, ...changes.risk },
  execution: { ...base.execution, ...changes.execution },
  karma: { ...base.karma, ...changes.karma },
})

const contextOf = (engine: BacktestEngine, configuration: Configuration): DecisionContext => {
  let ids = 0
  return {
    now: timestampAt(engine.now()),
    newId: () => `id-${(ids += 1)}`,
    traceId: null,
    configuration,
    version: 'test',
    sha256Hex,
    nodeId: BACKTEST_NODE,
    sign: () => '',
    isSigned: () => false,
    elapsedMs: () => 0,
  }
}

/** Removes ended orders and intents. Nothing reads them, so the fast path does not keep them. */
const withoutEnded = (result: RunResult): RunResult => {
  if (result.status === 'refused') return result
  const { trading } = result.state
  const orders = { ...trading.orders, ended: trading.orders.ended.clear() }
  const intents = trading.intents.filter(({ status }) => isLive(status))
  return { ...result, state: { ...result.state, trading: { ...trading, orders, intents } } }
}

interface Case {
  readonly changes?: Changes
  readonly more?: Partial<Proposal>
}

/** Decides every proposal of a slow run both ways, and counts those that the fast path handled. */
const comparedProposals = async ({ changes = {}, more = {} }: Case = {}) => {
  // The run itself goes on as it would without the changes.
  const settings = settingsWith(changes)
  const counts = { entries: 0, exits: 0, nothing: 0, longWay: 0 }
  const types = new Set<string>()
  // oxlint-disable-next-line typescript/unbound-method -- it is called with the engine below
  const { execute } = BacktestEngine.prototype
  vi.spyOn(BacktestEngine.prototype, 'execute').mockImplementation(function (
    this: BacktestEngine,
    command,
    options,
  ) {
    if (command.kind !== 'propose-trade') return execute.call(this, command, options)
    const proposal = { ...command.proposal, ...more }
    const atOnce = tradedAtOnce(this.state, proposal, contextOf(this, settings))
    const theLongWay = run(this.state, { kind: 'propose-trade', proposal }, contextOf(this, settings))
    if (atOnce === null) {
      counts.longWay += 1
      if (theLongWay.status === 'accepted') for (const { type } of theLongWay.events) types.add(type)
    } else {
      // Without events both states are the same object, so only the events are compared.
      if (atOnce.events.length === 0) expect(theLongWay).toMatchObject({ events: [] })
      else expect(withoutEnded(atOnce)).toEqual(withoutEnded(theLongWay))
      const [first] = atOnce.events
      if (first === undefined) counts.nothing += 1
      else if (first.type === 'execution.trade_intent.v1') counts.entries += 1
      else counts.exits += 1
    }
    return execute.call(this, command, options)
  })
  await backtest({
    strategy: 'ma_crossover',
    feed: new RecordedBarsFeed(minuteBars({ seed: 3, count: 600, symbols: ['BTC', 'ETH'], sigma: 0.004 })),
    producers: [],
    settings: settingsWith({}),
    version: 'test',
    fromMs: null,
    toMs: null,
    resetsDaily: true,
    onEvents: () => undefined,
    onError: (message) => {
      throw new Error(message)
    },
  })
  return { ...counts, typesOfLongWay: types }
}

afterEach(() => {
  vi.restoreAllMocks()
})

describe('a proposal that is traded at once', () => {
  it('leaves the events and the state of the long way, but for what has ended', async () => {
    const counts = await comparedProposals()
    expect(counts.entries).toBeGreaterThan(10)
    expect(counts.exits).toBeGreaterThan(10)
    expect(counts.nothing).toBeGreaterThan(100)
    expect(counts.longWay).toBeLessThan(5)
  })

  it('has the size that was asked for, and a stop that follows', async () => {
    const counts = await comparedProposals({ more: { sizePct: 0.05, trailingPct: 0.03, reason: 'a cross' } })
    expect(counts.entries).toBeGreaterThan(5)
    expect(counts.exits).toBeGreaterThan(5)
  })

  it.each([
    ['rests, with partial fills', { changes: { execution: { paper_partial_fills: true } } }],
    ['waits for approval', { changes: { execution: { require_approval: true } }, more: { conviction: 99 } }],
    ['is too small', { changes: { execution: { min_notional_usd: 1e9 } } }],
    ['is the call of an author', { more: { signalId: signalId('a-signal') } }],
  ] as const)('takes the long way where an entry %s', async (_, given) => {
    const counts = await comparedProposals(given)
    expect(counts.entries).toBe(0)
    expect(counts.longWay).toBeGreaterThan(5)
  })

  it('takes the long way where the kill switch moves', async () => {
    const counts = await comparedProposals({ changes: { kill_switch: { l1_fill_divergence_pct: 0 } } })
    expect(counts.entries).toBe(0)
    expect(counts.typesOfLongWay).toContain('system.kill_switch.v1')
  })

  it('takes the long way where contributors get a share of the gain', async () => {
    const changes = { karma: { enabled: true, percentage: 0.1, treasury_address: 'a-wallet' } } as Changes
    const counts = await comparedProposals({ changes })
    expect(counts.entries).toBeGreaterThan(10)
    expect(counts.typesOfLongWay).toContain('karma.intent.v1')
  })
})
