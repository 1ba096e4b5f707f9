import { builtInRun } from '../../../test/given.fixture.ts'
import { contributorId, nodeId } from '../shared/brand.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TradingScenario } from '../trading/trading.fixture.ts'
import type { Stamped } from '../log/event.ts'
import { decodeState, encodeState } from '../state-codec.ts'
import { evolve, INITIAL_STATE } from '../state.ts'
import type { JsonObject } from '../shared/json.ts'

const NODES = ['ann', 'bob', 'eve'] as const
const SYMBOLS = ['BTC', 'ETH'] as const

type Step =
  | { readonly kind: 'say'; readonly node: string; readonly payload: JsonObject }
  | { readonly kind: 'measure'; readonly symbol: string; readonly side: number }
  | { readonly kind: 'bars'; readonly move: number; readonly minutes: number }
  | { readonly kind: 'cycle' }
  | { readonly kind: 'overdue' }
  | { readonly kind: 'feedback'; readonly nth: number; readonly profit: boolean }
  | { readonly kind: 'close-all' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    arbitrary: fc.record({
      kind: fc.constant('say' as const),
      node: fc.constantFrom(...NODES),
      payload: fc.record({
        symbol: fc.constantFrom(...SYMBOLS, 'btc-usd', 'NOWHERE'),
        direction: fc.constantFrom('bullish', 'bearish', 'neutral'),
        conviction: fc.integer({ min: 0, max: 10 }),
        horizon: fc.constantFrom('1h', '4h', '24h', 'soon'),
      }),
    }),
    weight: 5,
  },
  {
    arbitrary: fc.record({
      kind: fc.constant('measure' as const),
      symbol: fc.constantFrom(...SYMBOLS),
      side: fc.constantFrom(1, -1),
    }),
    weight: 3,
  },
  {
    arbitrary: fc.record({
      kind: fc.constant('bars' as const),
      move: fc.double({ min: -0.06, max: 0.06, noNaN: true }),
      minutes: fc.constantFrom(1, 1, 30, 61, 241, 1500),
    }),
    weight: 6,
  },
  { arbitrary: fc.constant<Step>({ kind: 'cycle' }), weight: 4 },
  fc.constant<Step>({ kind: 'overdue' }),
  fc.record({ kind: fc.constant('feedback' as const), nth: fc.nat(30), profit: fc.boolean() }),
  fc.constant<Step>({ kind: 'close-all' }),
)

class Life {
  readonly scenario = new TradingScenario({ universe: { symbols: [...SYMBOLS] }, brain: { min_domains: 1 } })
  readonly prices = [100, 50]
  cycles = 0
  /** Whether feedback left calls, votes, counters and money as they were. */
  isFeedbackHarmless = true

  constructor() {
    for (const node of NODES) {
      this.scenario.record({
        type: 'contributor.registered.v1',
        source: 'api',
        payload: { contributor_id: node, node_id: node, name: node, role: 'curator', metadata: {} },
      })
    }
  }

  take(next: Step): void {
    const { scenario } = this
    switch (next.kind) {
      case 'say':
        scenario.do({
          kind: 'submit-signal',
          submission: {
            eventType: 'signal.curator.v1',
            nodeId: nodeId(next.node),
            ts: null,
            source: null,
            payload: next.payload,
            dedupeKey: null,
          },
        })
        return
      case 'measure':
        for (const [name, type, payload] of [
          ['technical-analysis', 'signal.ta.v1', { rsi_14: 50 - 28 * next.side }],
          [
            'social-intel',
            'signal.social.v1',
            { score: 9 * next.side, direction: next.side === 1 ? 'bullish' : 'bearish', source_count: 1 },
          ],
        ] as const) {
          scenario.do(builtInRun(name, type, { symbol: next.symbol, ...payload }, { ts: scenario.now }))
        }
        return
      case 'bars':
        scenario.wait((next.minutes - 1) * 60_000)
        for (const index of [0, 1]) this.prices[index] = (this.prices[index] ?? 1) * (1 + next.move)
        scenario.bars(SYMBOLS.map((symbol, index) => [symbol, Number((this.prices[index] ?? 1).toFixed(4))]))
        return
      case 'cycle':
        this.cycles += 1
        if (scenario.state.trading.killSwitch.level < 2) {
          scenario.do({ kind: 'run-cycle', cycleId: `cycle-${this.cycles}`, trigger: 'schedule' })
        }
        return
      case 'overdue':
        scenario.do({ kind: 'settle-overdue' })
        return
      case 'close-all':
        scenario.do({ kind: 'close-all', by: { operator: 'svc-1', surface: 'api' } })
        return
      case 'feedback':
        this.#judge(next.nth, next.profit)
    }
  }

  #judge(nth: number, profit: boolean): void {
    const signals = this.scenario.log.filter(({ type }) => type === 'signal.curator.v1')
    const signal = signals[nth % Math.max(1, signals.length)]
    if (signal === undefined) return
    const before = this.scenario.state
    this.scenario.do({
      kind: 'record-feedback',
      feedback: {
        producer_id: signal.source ?? '',
        signal_id: signal.id,
        outcome: profit ? 'profit' : 'loss',
        pnl: 1,
        note: null,
        matched: true,
        signal_type: signal.type,
        score: null,
        submitted_by: 'api',
        contributor_id: signal.source,
      },
      status: { isVoid: true, isRepeated: false },
    })
    const {
      reputation: { calls, outcomes },
      signals: { contributors },
      trading: { ledger },
      treasury: karma,
    } = this.scenario.state
    this.isFeedbackHarmless &&=
      calls === before.reputation.calls &&
      outcomes.edges === before.reputation.outcomes.edges &&
      contributors === before.signals.contributors &&
      ledger === before.trading.ledger &&
      karma === before.treasury
  }
}

const ofType = (log: readonly Stamped[], type: string): readonly Stamped[] =>
  log.filter((event) => event.type === type)

describe('whatever is said, whatever the market does', () => {
  it('a call resolves at most once, credits name what was used, and counters say what happened', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const life = new Life()
        for (const next of steps) life.take(next)
        const { log, state } = life.scenario
        const verdicts = ofType(log, 'attribution.resolved.v1').map(({ payload }) => payload)
        expect(new Set(verdicts.map(({ call_id }) => call_id)).size).toBe(verdicts.length)
        for (const node of NODES) {
          const decided = verdicts.filter(
            ({ contributor_id, hit }) => contributor_id === node && hit !== null,
          )
          const hits = decided.filter(({ hit }) => hit === true)
          expect(state.signals.contributors.byId.get(contributorId(node))?.record).toMatchObject({
            resolved: decided.length,
            profitable: hits.length,
          })
        }
        expect(life.isFeedbackHarmless).toBe(true)
        expectSoundCredits(log)
        expectSoundIndexes(life)
        const again = log.reduce(evolve, INITIAL_STATE)
        expect(encodeState(again)).toBe(encodeState(state))
        const middle = log.slice(0, log.length >> 1).reduce(evolve, INITIAL_STATE)
        const resumed = log.slice(log.length >> 1).reduce(evolve, decodeState(encodeState(middle)))
        expect(encodeState(resumed)).toBe(encodeState(state))
      }),
      { numRuns: 60 },
    )
  })
})

const expectSoundCredits = (log: readonly Stamped[]): void => {
  const inputs = new Map(
    ofType(log, 'brain.conviction.v1').map(({ id, payload }) => [
      id,
      new Set((payload['inputs'] as unknown as readonly { signal_id: string }[]).map((one) => one.signal_id)),
    ]),
  )
  for (const { payload } of ofType(log, 'execution.trade_intent.v1')) {
    const credits = payload['attribution'] as unknown as readonly { signal_id: string; weight: number }[]
    expect(credits.reduce((sum, { weight }) => sum + Math.round(weight * 1e9), 0)).toBe(1e9)
    const { conviction_id: convictionId } = payload
    const used = typeof convictionId === 'string' ? inputs.get(convictionId) : undefined
    expect(credits.every(({ signal_id }) => used?.has(signal_id) === true)).toBe(true)
  }
}

/** All indexes refer to open calls only. */
const expectSoundIndexes = ({ scenario }: Life): void => {
  const { open, current, ofSignal, ofPosition, due } = scenario.state.reputation.calls
  for (const index of [current, ofSignal, due.places]) {
    expect([...index.values()].every((id) => open.has(id))).toBe(true)
  }
  expect([...ofPosition.values()].flat().every((id) => open.has(id))).toBe(true)
  const waiting = [...open.values()].filter(({ isMeasured }) => !isMeasured)
  expect(due.places.size).toBe(2 * waiting.length)
}
