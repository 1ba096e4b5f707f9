import { priceFrom } from '../shared/money.ts'
import { positionId, intentId } from '../shared/brand.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import { describe, expect, it } from 'vitest'
import { watchRegime } from './cycle.ts'
import type { PositionOrIntent } from './decision.ts'
import {
  builtin,
  curatorCall,
  cycleOf,
  firstOf,
  HOUR_MS,
  NOW_MS,
  type BrainSignal,
  authorsOf,
} from './scenario.fixture.ts'
import { MINUTE_MS, registered, regimeSignals, RULES, signalOf } from './scenario.fixture.ts'

const bullish: readonly BrainSignal[] = [
  signalOf('ta', { rsi_14: 22 }),
  signalOf('social', { score: 9 }),
  signalOf('events', { headline_sentiment: 1, impact_score: 1 }),
]

const holding = (
  kind: PositionOrIntent['kind'],
  side: PositionOrIntent['side'],
  symbol = 'eth/usdt',
  isOwn = true,
): PositionOrIntent => ({
  ...(kind === 'position'
    ? { kind, id: positionId(`position-${side}`), isOwn }
    : { kind, id: intentId(`intent-${side}`) }),
  symbol: canonicalSymbol(symbol),
  side,
})

const inBull = (inputs: Parameters<typeof cycleOf>[0] = {}) =>
  cycleOf({ ...inputs, signals: [...(inputs.signals ?? bullish), ...regimeSignals('BULL')] })

const decisionOf = (inputs: Parameters<typeof cycleOf>[0]) => firstOf(inBull(inputs)).decision

describe('decision', () => {
  it('opens when nothing speaks against it', () => {
    const result = inBull()
    expect(firstOf(result).decision).toStrictEqual({ action: 'long', reasons: [], exitPositionIds: [] })
    expect(result.intents).toHaveLength(1)
    expect(result.intents[0]?.conviction).toBe(result.convictions[0])
  })

  it('names every reason against an intent', () => {
    const result = cycleOf({
      signals: [signalOf('ta', { rsi_14: 51 }), ...regimeSignals('CRISIS')],
      killSwitchLevel: 2,
      holdings: [holding('intent', 'long')],
    })
    expect(firstOf(result).decision).toStrictEqual({
      action: 'hold',
      reasons: ['neutral', 'coverage', 'kill_switch', 'regime_crisis', 'hold', 'below_threshold'],
      exitPositionIds: [],
    })
    expect(result.intents).toStrictEqual([])
  })

  it.each([
    ['coverage', { signals: bullish.slice(0, 2) }],
    ['kill_switch', { killSwitchLevel: 2 }],
    ['hold', { holdings: [holding('intent', 'long')] }],
  ] as const)('%s alone is enough', (reason, inputs) => {
    expect(decisionOf(inputs).reasons).toStrictEqual([reason])
    expect(inBull(inputs).intents).toStrictEqual([])
  })

  it('a direction without strength is below the threshold', () => {
    const weak = [
      signalOf('ta', { rsi_14: 47 }),
      signalOf('social', { score: 1.5 }),
      signalOf('events', { headline_sentiment: 0.15, impact_score: 1 }),
    ]
    const decision = decisionOf({ signals: weak })
    expect(decision).toMatchObject({ action: 'none', reasons: ['below_threshold'] })
  })

  it('leaves an opposite position, and does not turn in the same cycle', () => {
    const holdings = [holding('position', 'short'), holding('position', 'long'), holding('intent', 'short')]
    expect(decisionOf({ holdings })).toStrictEqual({
      action: 'exit',
      reasons: ['hold'],
      exitPositionIds: ['position-short'],
    })
    expect(inBull({ holdings }).intents).toStrictEqual([])
  })

  it('leaves alone what a strategy opened or was found at the venue, and enters nothing beside it', () => {
    const foreign = holding('position', 'short', undefined, false)
    const decision = { action: 'hold', reasons: ['hold'], exitPositionIds: [] }
    expect(decisionOf({ holdings: [foreign] })).toStrictEqual(decision)
    expect(decisionOf({ holdings: [holding('position', 'short'), foreign] })).toMatchObject({
      action: 'exit',
      exitPositionIds: ['position-short'],
    })
  })

  it('holds a position of its own side, an opposite intent, and what a weak view opposes', () => {
    expect(decisionOf({ holdings: [holding('position', 'long')] }).action).toBe('hold')
    expect(decisionOf({ holdings: [holding('intent', 'short')] }).action).toBe('hold')
    const signals = [signalOf('ta', { rsi_14: 47 })]
    expect(decisionOf({ signals, holdings: [holding('position', 'short')] }).action).toBe('hold')
    expect(decisionOf({ signals: [], holdings: [holding('position', 'short')] }).action).toBe('hold')
  })

  it('does not mind what is held in another symbol', () => {
    expect(decisionOf({ holdings: [holding('position', 'short', 'SOL')] }).action).toBe('long')
  })
})

describe('size', () => {
  const intentAt = (score: number, risk = RULES.risk) => {
    const signals = [
      signalOf('ta', { trend_strength: score }),
      signalOf('social', { score: 10 * score }),
      signalOf('events', { headline_sentiment: score, impact_score: 1 }),
      ...regimeSignals('BULL'),
    ]
    const [intent] = cycleOf({ signals }, { ...RULES, risk }).intents
    return intent === undefined ? null : [intent.sizePct, intent.leverage, intent.approvalRequired]
  }

  it('follows the tiers', () => {
    expect([0.19, 0.2, 0.49, 0.5, 0.79, 0.8].map((score) => intentAt(score))).toStrictEqual([
      null,
      [0.02, 1, false],
      [0.02, 1, false],
      [0.05, 2, false],
      [0.05, 2, false],
      [0.1, 2, true],
    ])
  })

  it('stays within the limits', () => {
    const risk = { max_leverage: 1.5, max_position_pct: 0.03 }
    expect([0.2, 0.5, 0.8].map((score) => intentAt(score, risk))).toStrictEqual([
      [0.02, 1, false],
      [0.03, 1.5, false],
      [0.03, 1.5, true],
    ])
    expect(intentAt(0.2, { ...risk, max_leverage: 0.5 })).toStrictEqual([0.02, 0.5, false])
  })
})

describe('inputs', () => {
  it('are the newest signal per type and author, the later of two at one time', () => {
    const at = (id: string, score: number, ageMs: number, author = builtin('house')) =>
      signalOf('social', { score }, { id, ageMs, author })
    const used = (...signals: readonly BrainSignal[]) =>
      firstOf(inBull({ signals })).inputs.map(({ signalId }) => signalId)
    expect(used(at('old', 1, HOUR_MS), at('new', 2, 0), at('older', 3, 2 * HOUR_MS))).toStrictEqual(['new'])
    expect(used(at('first', 1, 0), at('second', 2, 0))).toStrictEqual(['second'])
    expect(used(at('one', 1, 0), at('two', 2, 0, registered('p')))).toHaveLength(2)
    // A contributor and a producer of one id are two authors.
    expect(used(at('one', 1, 0, registered('x')), at('two', 1, 0, builtin('x')))).toHaveLength(2)
  })

  it('of one author count by quality, his weight is that of the freshest', () => {
    const author = registered('p')
    const other = registered('q')
    const { inputs, domains } = firstOf(
      inBull({
        signals: [
          signalOf('ta', { rsi_14: 30 }, { id: 'a', author, ageMs: 45 * MINUTE_MS }),
          signalOf('orderbook', { imbalance: -1 }, { id: 'b', author }),
          signalOf('orderbook', { imbalance: 1 }, { id: 'c', author: other }),
        ],
      }),
    )
    expect(inputs.map(({ signalId, share }) => [signalId, Number(share.toFixed(9))])).toStrictEqual([
      ['b', 0.375],
      ['a', 0.125],
      ['c', 0.5],
    ])
    expect(domains[0]).toMatchObject({ domain: 'technical', quality: 1 })
    expect(domains[0]?.value).toBeCloseTo(0.25, 12)
  })

  it('are the same in the same order, whatever way they came', () => {
    const author = registered('p')
    const signals = [
      signalOf('ta', { rsi_14: 30 }, { id: 'a', author }),
      signalOf('orderbook', { imbalance: -1 }, { id: 'b', author }),
      signalOf('orderbook', { imbalance: 1 }, { id: 'c', author: registered('q') }),
      curatorCall('bullish', 5, { id: 'd' }),
    ]
    expect(firstOf(inBull({ signals: signals.toReversed() })).inputs).toStrictEqual(
      firstOf(inBull({ signals })).inputs,
    )
  })

  it('count by the standing of their authors', () => {
    const proven = (influence: number) => ({ worth: { influence, newcomer: 0, groupId: null } })
    const shareOf = (influence: number) =>
      firstOf(
        inBull({
          signals: [
            signalOf('social', { score: 1 }, { id: 'a', author: builtin('a', proven(influence)) }),
            signalOf('social', { score: 1 }, { id: 'b', author: builtin('b') }),
          ],
        }),
      ).inputs[0]?.share
    expect([0, 0.2, 1, 2].map(shareOf)).toStrictEqual([0, 0.2 / 1.2, 0.5, 2 / 3])
  })

  it('do not include the quarantined, nor a newest signal that says nothing', () => {
    const silent = [
      signalOf('social', { score: 5 }, { author: registered('p', { quarantined: true }) }),
      signalOf('ta', { rsi_14: 30 }, { ageMs: MINUTE_MS }),
      signalOf('ta', {}),
    ]
    expect(firstOf(inBull({ signals: silent }))).toMatchObject({ inputs: [], domains: [], pcsScore: 50 })
  })

  it('of a domain without weight move nothing', () => {
    const weights = { curator: 1, onchain: 0, tradfi: 0, social: 0, technical: 0, events: 0 }
    expect(firstOf(inBull({ weights }))).toMatchObject({ pcsScore: 50, coverage: 0, agreement: 0 })
  })
})

describe('cycle', () => {
  it('thinks once of each symbol, in the order and the spelling of the universe', () => {
    const { convictions } = cycleOf({ symbols: ['sol', 'ETH/USDT', 'eth', 'SOL-PERP', 'BTC'] })
    expect(convictions.map(({ symbol }) => symbol)).toStrictEqual(['sol', 'ETH/USDT', 'BTC'])
  })

  it('finds market and holdings in any spelling', () => {
    const market = [
      {
        symbol: canonicalSymbol('ETH-PERP'),
        volume24hUsd: null,
        return24hPct: null,
        mark: priceFrom(3000),
      },
    ]
    expect(inBull({ market, symbols: ['eth'] }).intents[0]?.intendedPrice).toBe(priceFrom(3000))
    expect(inBull({ symbols: ['eth'] }).intents[0]?.intendedPrice).toBeNull()
  })

  it('warns at level 1 and still opens', () => {
    const result = inBull({ killSwitchLevel: 1 })
    expect(result.warnings).toStrictEqual(['kill_switch_level_1'])
    expect(result.intents).toHaveLength(1)
    expect(inBull().warnings).toStrictEqual([])
  })

  it('counts stale cycles only after data has been seen, and from then in a row', () => {
    const never = { staleCycles: 0, everScored: false }
    expect(cycleOf({ staleness: never }).staleness).toStrictEqual(never)
    const seen = cycleOf({ signals: bullish, staleness: never }).staleness
    expect(seen).toStrictEqual({ staleCycles: 0, everScored: true })
    const once = cycleOf({ staleness: seen }).staleness
    const twice = cycleOf({
      signals: [curatorCall('bullish', 5, { symbol: 'SOL' })],
      staleness: once,
    }).staleness
    expect([once, twice]).toStrictEqual([
      { staleCycles: 1, everScored: true },
      { staleCycles: 2, everScored: true },
    ])
    expect(cycleOf({ signals: bullish, staleness: twice }).staleness).toStrictEqual(seen)
  })
})

describe('watchRegime', () => {
  it('reads the regime as a cycle does', () => {
    const signals = regimeSignals('CRISIS')
    const authors = authorsOf(signals)
    expect(watchRegime({ authors, asOfMs: NOW_MS }, RULES.brain)).toStrictEqual(cycleOf({ signals }).regime)
    expect(watchRegime({ authors, asOfMs: NOW_MS + 100 * HOUR_MS }, RULES.brain).regime).toBe('TRANSITION')
  })
})
