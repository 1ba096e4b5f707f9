import { canonicalSymbol } from '../shared/symbol.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { accountStatusOf } from './risk/account.ts'
import type { Command } from '../decide.ts'
import { TradingScenario, typesOf } from './trading.fixture.ts'
import type { Stamped } from '../log/event.ts'
import { openPositionsOf } from './positions/book.ts'
import { isOpen } from './positions/positions.ts'
import { decodeState, encodeState } from '../state-codec.ts'
import { evolve, INITIAL_STATE, type State } from '../state.ts'
import { equityOf } from './risk/account.ts'
import { priceFrom, quantityFrom, sumOf, usdFrom, type Quantity } from '../shared/money.ts'

const SYMBOLS = ['BTC', 'eth/usdt', 'SOL-PERP', 'FORBIDDEN'] as const
const SPELLINGS = [...SYMBOLS, ' btc', 'ETHUSD', 'forbidden-perp'] as const
const START_PRICES = [60_000, 3000, 0.00001234, 7] as const

type Step =
  | {
      readonly kind: 'bars'
      readonly moves: readonly number[]
      readonly wick: number
      readonly volume: number
    }
  | { readonly kind: 'intent'; readonly intent: NonNullable<Parameters<TradingScenario['intend']>[0]> }
  | { readonly kind: 'wait'; readonly minutes: number }
  | { readonly kind: 'judge'; readonly nth: number; readonly approves: boolean }
  | { readonly kind: 'close'; readonly nth: number }
  | { readonly kind: 'level'; readonly level: 0 | 1 | 2 | 3 }
  | { readonly kind: 'command'; readonly command: Command }
  | { readonly kind: 'funding' }

const FUNDING_PERIOD_MS = 28_800_000
const by = { operator: 'svc-1', surface: 'api' } as const

const bars: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('bars' as const),
  moves: fc.array(fc.double({ min: -0.12, max: 0.12, noNaN: true }), { minLength: 4, maxLength: 4 }),
  wick: fc.double({ min: 0, max: 0.06, noNaN: true }),
  volume: fc.double({ min: 0, max: 200, noNaN: true }),
})
const intent: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('intent' as const),
  intent: fc.record({
    symbol: fc.constantFrom(...SPELLINGS),
    direction: fc.constantFrom('long' as const, 'short' as const),
    size_pct: fc.constantFrom(0.02, 0.05, 0.1, 0.5),
    leverage: fc.constantFrom(1, 2),
    conviction_score: fc.integer({ min: 60, max: 100 }),
    status: fc.constantFrom('ready' as const, 'ready' as const, 'awaiting_approval' as const),
    stop_loss_pct: fc.constantFrom(0.05, 0.01, 0.3, null),
  }),
})
const other: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 1000 }) }),
  fc.record({ kind: fc.constant('judge' as const), nth: fc.nat(20), approves: fc.boolean() }),
  fc.record({ kind: fc.constant('close' as const), nth: fc.nat(5) }),
  fc.record({ kind: fc.constant('level' as const), level: fc.constantFrom(0 as const, 0, 1, 2, 3) }),
  { arbitrary: fc.constant<Step>({ kind: 'funding' }), weight: 2 },
  fc
    .constantFrom<Command>(
      { kind: 'expire-intents' },
      { kind: 'check-positions' },
      { kind: 'close-all', by },
      { kind: 'exit-symbol', symbol: canonicalSymbol('BTC'), direction: 'long' },
      { kind: 'exit-symbol', symbol: canonicalSymbol('ETH'), direction: 'short' },
    )
    .map((command): Step => ({ kind: 'command', command })),
)
const steps = fc.array(
  fc.oneof({ arbitrary: bars, weight: 4 }, { arbitrary: intent, weight: 3 }, { arbitrary: other, weight: 2 }),
  { minLength: 5, maxLength: 40 },
)

interface Life {
  readonly steps: readonly Step[]
  readonly partial: boolean
  readonly maxPosition: number
  readonly heat: number
}

const life: fc.Arbitrary<Life> = fc.record({
  steps,
  partial: fc.boolean(),
  maxPosition: fc.constantFrom(0.1, 0.5),
  heat: fc.constantFrom(0.06, 0.01),
})

interface Walk {
  readonly scenario: TradingScenario
  readonly before: State
  readonly step: Step
  readonly events: readonly Stamped[]
}

const walk = (
  { steps: taken, partial, maxPosition, heat }: Life,
  look: (seen: Walk) => void,
): TradingScenario => {
  const scenario = new TradingScenario({
    execution: { paper_partial_fills: partial, dcg_symbols: ['FORBIDDEN'] },
    risk: { max_position_pct: maxPosition, max_portfolio_heat_pct: heat, daily_loss_limit_pct: 0 },
  })
  const prices: number[] = [...START_PRICES]
  for (const step of taken) {
    const before = scenario.state
    const length = scenario.log.length
    act(scenario, step, prices)
    look({ scenario, before, step, events: scenario.log.slice(length) })
  }
  return scenario
}

const act = (scenario: TradingScenario, step: Step, prices: number[]): void => {
  switch (step.kind) {
    case 'bars':
      scenario.bars(
        SYMBOLS.map((symbol, index) => {
          const open = prices[index] ?? 1
          const close = Number((open * (1 + (step.moves[index] ?? 0))).toPrecision(9))
          prices[index] = close
          const high = Math.max(open, close) * (1 + step.wick)
          const low = Math.min(open, close) * (1 - step.wick)
          return [symbol, close, { open, high, low, volume: step.volume, funding_annualized: 20 }]
        }),
      )
      return
    case 'intent':
      scenario.intend(step.intent)
      return
    case 'wait':
      scenario.wait(step.minutes * 60_000)
      return
    case 'judge': {
      const waiting = [...scenario.state.trading.intents.values()].filter(
        ({ status }) => status === 'awaiting_approval',
      )
      const chosen = waiting[step.nth % Math.max(1, waiting.length)]
      if (
        chosen === undefined ||
        scenario.state.trading.killSwitch.level >= 2 ||
        chosen.intent.valid_until < scenario.now
      )
        return
      const decision = { intentId: chosen.id, note: null, ...by }
      scenario.do({ kind: step.approves ? 'approve-intent' : 'deny-intent', decision })
      return
    }
    case 'close': {
      const open = openPositionsOf(scenario.state.trading).filter(({ status }) => status !== 'closing')
      const position = open[step.nth % Math.max(1, open.length)]
      if (position === undefined || position.mark.atMs < Date.parse(scenario.now) - 170_000) return
      scenario.do({ kind: 'close-position', positionId: position.id, by })
      return
    }
    case 'level':
      scenario.do({ kind: 'set-kill-switch', move: { level: step.level, reason: 'test', ...by } })
      return
    case 'command':
      scenario.do(step.command)
      return
    case 'funding': {
      const atMs = Math.ceil(Date.parse(scenario.now) / FUNDING_PERIOD_MS) * FUNDING_PERIOD_MS
      scenario.wait(atMs - Date.parse(scenario.now))
      scenario.do({ kind: 'apply-funding', at: scenario.now })
    }
  }
}

const RUNS = { numRuns: 150 }
const payloadsOf = (events: readonly Stamped[], type: string) =>
  events.filter((event) => event.type === type).map(({ payload }) => payload)
const amount = (value: unknown): bigint => usdFrom(value as number)
const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n)

describe('whatever happens', () => {
  it('the account adds up to the last millionth', () => {
    fc.assert(
      fc.property(life, (drawn) => {
        walk(drawn, ({ scenario }) => {
          const { state, log } = scenario
          const open = openPositionsOf(state.trading)
          const nets = payloadsOf(log, 'execution.position_closed.v1').map(({ realized_pnl }) =>
            amount(realized_pnl),
          )
          const running = open.map(({ mark, holding }) => mark.unrealized - holding.fees - holding.funding)
          expect(equityOf(state.trading)).toBe(state.trading.ledger.startBalance + sum(nets) + sum(running))
          const fees = payloadsOf(log, 'execution.order_filled.v1').map(({ fee_usd }) => amount(fee_usd))
          expect(fees.every((fee) => fee >= 0n)).toBe(true)
          expect(state.trading.ledger.fees).toBe(sum(fees))
          expect(state.trading.book).toMatchObject({
            count: open.length,
            unrealized: sum(open.map(({ mark }) => mark.unrealized)),
            exposure: sum(open.map(({ mark }) => mark.exposure)),
            margin: sum(open.map(({ mark }) => mark.margin)),
            lossAtStop: sum(open.map(({ holding }) => holding.lossAtStop)),
          })
        })
      }),
      RUNS,
    )
  })

  it('every limit holds after an entry, and an entry alone never trips the heat trigger', () => {
    fc.assert(
      fc.property(life, (drawn) => {
        walk({ ...drawn, partial: false }, ({ scenario, before, step, events }) => {
          if (step.kind !== 'intent' || !typesOf(events).includes('execution.position_opened.v1')) return
          const { equity, heat, exposure, margin } = accountStatusOf(scenario.state.trading, scenario.now)
          const { risk } = scenario.configuration
          expect(heat).toBeLessThanOrEqual(0.9 * Math.min(risk.max_portfolio_heat_pct, 0.06))
          expect(Number(exposure)).toBeLessThanOrEqual(risk.max_leverage * Number(equity))
          expect(margin <= equity).toBe(true)
          const [opened] = payloadsOf(events, 'execution.position_opened.v1')
          const size = Number(amount(opened?.['size_notional']))
          expect(size).toBeLessThanOrEqual(risk.max_position_pct * Number(equityOf(before.trading)))
          expect(
            Math.max(...[...scenario.state.trading.book.bySymbol.values()].map((ids) => ids.length)),
          ).toBe(1)
          expect(scenario.state.trading.killSwitch.reason ?? '').not.toContain('portfolio_heat')
        })
      }),
      RUNS,
    )
  })

  it('the level falls only by an operator, and every level is kept', () => {
    fc.assert(
      fc.property(life, (drawn) => {
        walk(drawn, ({ scenario, before, step, events }) => {
          const types = typesOf(events)
          const { level } = before.trading.killSwitch
          if (step.kind !== 'level')
            expect(scenario.state.trading.killSwitch.level).toBeGreaterThanOrEqual(level)
          if (level >= 2 && step.kind !== 'level') expect(types).not.toContain('execution.position_opened.v1')
          const isByHand =
            step.kind === 'close' || (step.kind === 'command' && step.command.kind === 'close-all')
          if (level === 3 && step.kind !== 'level' && !isByHand)
            expect(types).not.toContain('execution.order_submitted.v1')
          if (level < 3 && step.kind === 'bars') expectStopsLeft(before, scenario.state, events)
        })
      }),
      RUNS,
    )
  })

  it('no forbidden entry; a position closes once, whole, with its levels on the right sides', () => {
    fc.assert(
      fc.property(life, (drawn) => {
        const { log, state } = walk(drawn, () => undefined)
        expect(JSON.stringify(payloadsOf(log, 'execution.position_opened.v1'))).not.toContain('FORBIDDEN')
        const refused = payloadsOf(log, 'execution.order_failed.v1').filter(({ reasons }) =>
          (reasons as readonly string[]).includes('dcg_symbol'),
        )
        expect(payloadsOf(log, 'system.dcg_violation.v1')).toHaveLength(refused.length)
        const closed = payloadsOf(log, 'execution.position_closed.v1').map(({ position_id }) => position_id)
        expect(new Set(closed).size).toBe(closed.length)
        for (const position of state.trading.positions.values()) {
          const { holding, terms } = position
          if (!isOpen(position)) expect(soldOf(log, position.id)).toBe(holding.quantity)
          const entry = holding.entryPrice
          const [low, high] =
            terms.direction === 'long'
              ? [holding.stopLoss, holding.takeProfit]
              : [holding.takeProfit, holding.stopLoss]
          expect((low === null || low < entry) && (high === null || high > entry)).toBe(true)
        }
      }),
      RUNS,
    )
  })

  it('an intent ends once, in time, and never without the approval it waits for', () => {
    fc.assert(
      fc.property(life, (drawn) => {
        const { log } = walk(drawn, () => undefined)
        for (const { id, payload } of log.filter(({ type }) => type === 'execution.trade_intent.v1')) {
          const about = log.filter((event) => event.payload['intent_id'] === id)
          const orders = about.filter(({ type }) => type === 'execution.order_submitted.v1')
          const failures = about.filter(({ type }) => type === 'execution.order_failed.v1')
          const approvals = about.filter(({ type }) => type === 'execution.intent_approved.v1')
          const ends = about.filter(
            ({ type, payload: { remaining_size: rest } }) =>
              type === 'execution.order_canceled.v1' || (type === 'execution.order_filled.v1' && rest === 0),
          )
          expect(orders.length + failures.length).toBeLessThanOrEqual(1)
          expect(ends.length).toBeLessThanOrEqual(orders.length)
          for (const { ts, seq } of orders) {
            expect(ts <= (payload['valid_until'] as string)).toBe(true)
            if (payload['status'] === 'awaiting_approval')
              expect(approvals.map((approval) => approval.seq < seq)).toEqual([true])
          }
        }
      }),
      RUNS,
    )
  })

  it('the log alone leads to the same state, also by way of a snapshot', () => {
    fc.assert(
      fc.property(life, fc.double({ min: 0, max: 1, noNaN: true }), (drawn, part) => {
        const { log, state } = walk(drawn, () => undefined)
        const middle = Math.floor(part * log.length)
        const early = log.slice(0, middle).reduce(evolve, INITIAL_STATE)
        const restored = decodeState(encodeState(early))
        expect(encodeState(log.slice(middle).reduce(evolve, restored))).toBe(encodeState(state))
      }),
      { numRuns: 50 },
    )
  })
})

/** Expects that positions that were open during the whole bar and reached their stop are closed or closing. */
const expectStopsLeft = (before: State, after: State, events: readonly Stamped[]): void => {
  for (const bar of payloadsOf(events, 'market.bar.v1')) {
    for (const { id, terms, holding } of openPositionsOf(before.trading)) {
      const isSame = (bar['symbol'] as string).toUpperCase().startsWith(terms.asset)
      if (!isSame || holding.stopLoss === null || terms.openedAt > (bar['open_ts'] as string)) continue
      const worst = priceFrom((terms.direction === 'long' ? bar['low'] : bar['high']) as number)
      const isHit = terms.direction === 'long' ? worst <= holding.stopLoss : worst >= holding.stopLoss
      if (isHit) expect(['closed', 'closing']).toContain(after.trading.positions.get(id)?.status)
    }
  }
}

/** Quantity that the exits of a position filled, over all attempts. */
const soldOf = (log: Parameters<typeof payloadsOf>[0], id: string): Quantity => {
  const exits = new Set(
    payloadsOf(log, 'execution.order_submitted.v1')
      .filter(({ reduce_only: isExit, position_id }) => isExit === true && position_id === id)
      .map(({ order_id }) => order_id),
  )
  return sumOf(
    payloadsOf(log, 'execution.order_filled.v1')
      .filter(({ order_id }) => exits.has(order_id))
      .map(({ fill_size: size }) => quantityFrom(size as number)),
  )
}
