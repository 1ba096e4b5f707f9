import type { MarketView } from '../../../core/market/readings.ts'
import type { JsonObject } from '../../../core/shared/json.ts'
import { clamp } from '../../../core/shared/numbers.ts'
import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import type { ProducedRow, Producer, ProducerRun } from '../../../ports/producer.ts'
import type { Draws } from './draws.ts'
import { type Path, type Phase } from './path.ts'
import { rounded } from './rounding.ts'

/** The hidden state of the market when a bar closed. */
export interface HiddenMarket {
  /** By canonical symbol. */
  readonly symbols: ReadonlyMap<string, HiddenSymbol>
  readonly drawsOf: (stream: string) => Draws
}

interface HiddenSymbol {
  /** 1 in an upward phase, -1 in a downward one. */
  readonly drift: number
  /** Distance from the level that its swing reverts to. */
  readonly stretch: number
  readonly volumeUsd: number
}

/** Producers besides prices: only a simulated market knows what moves them. */
export const simulatedProducers = (
  hiddenMarketAt: (ms: number) => HiddenMarket | null,
): readonly Producer[] => SIMULATED_SOURCES.map((source) => simulatedProducer(source, hiddenMarketAt))

export const hiddenSymbolsOf = (path: Path): ReadonlyMap<string, HiddenSymbol> => {
  const market = path.market()
  return new Map(
    path.symbols.map(({ symbol, state, asset }) => [
      canonicalSymbol(symbol),
      {
        drift: DRIFT[market.phase],
        stretch: market.swing + state.swing,
        volumeUsd: asset.volume_usd,
      },
    ]),
  )
}

const DRIFT: Readonly<Record<Phase, number>> = { chop: 0, bull: 1, bear: -1, crisis: -1 }

const simulatedProducer = (
  source: SimulatedSource,
  hiddenMarketAt: (ms: number) => HiddenMarket | null,
): Producer => {
  const streams = new Map<string, Draws>()
  let last: { readonly asOfMs: number; readonly run: ProducerRun } | null = null

  const noiseOf = (name: string, { drawsOf }: HiddenMarket): number => {
    const draws = streams.get(name) ?? drawsOf(`prod:${source.producer}:${name}`)
    streams.set(name, draws)
    return draws.normal()
  }

  const rowsOf = (view: MarketView, known: HiddenMarket): readonly ProducedRow[] =>
    view.symbols.flatMap(({ symbol }) => {
      const name = canonicalSymbol(symbol)
      const hidden = known.symbols.get(name)
      if (hidden === undefined) return []
      const lean = clamp(0.5 * hidden.drift - 8 * hidden.stretch + 0.4 * noiseOf(name, known))
      return [{ type: source.type, payload: source.payloadOf({ symbol, lean, volumeUsd: hidden.volumeUsd }) }]
    })

  return {
    name: source.producer,
    run: (view) => {
      // A second run at one time returns the first result.
      if (last?.asOfMs === view.asOfMs) return last.run
      const known = hiddenMarketAt(view.asOfMs)
      if (known === null) return { status: 'degraded', reason: 'the simulated market has not started' }
      const rows = rowsOf(view, known)
      if (rows.length === 0) return { status: 'degraded', reason: 'no symbol of the universe has a bar' }
      const run: ProducerRun = { status: 'ran', rows }
      last = { asOfMs: view.asOfMs, run }
      return run
    },
  }
}

/** Input of a source for one symbol: `lean` from -1 (bearish) to 1 (bullish). */
interface Leaning {
  readonly symbol: string
  readonly lean: number
  /** Traded per day. */
  readonly volumeUsd: number
}

interface SimulatedSource {
  readonly producer: string
  readonly type: string
  readonly payloadOf: (leaning: Leaning) => JsonObject
}

/** Producers whose data no price feed has. */
const SIMULATED_SOURCES: readonly SimulatedSource[] = [
  {
    producer: 'ai-consensus',
    type: 'signal.aci.v1',
    payloadOf: ({ symbol, lean }) => ({
      symbol,
      consensus_score: score(5 * lean),
      models_queried: MODELS,
      models_responded: MODELS,
      dispersion: 2,
    }),
  },
  {
    producer: 'etf-flows',
    type: 'signal.etf.v1',
    payloadOf: ({ symbol, lean, volumeUsd }) => ({ symbol, daily_flow_usd: usd(0.005 * volumeUsd * lean) }),
  },
  {
    producer: 'market-events',
    type: 'signal.events.v1',
    payloadOf: ({ symbol, lean }) => ({
      symbol,
      headline_sentiment: score(0.6 * lean),
      impact_score: score(Math.abs(lean)),
    }),
  },
  {
    producer: 'onchain-flows',
    type: 'signal.onchain.v1',
    payloadOf: ({ symbol, lean, volumeUsd }) => ({
      symbol,
      whale_netflow: usd(0.01 * volumeUsd * lean),
      exchange_flow: usd(-0.005 * volumeUsd * lean),
    }),
  },
  {
    producer: 'social-intel',
    type: 'signal.social.v1',
    payloadOf: ({ symbol, lean }) => ({
      symbol,
      score: score(6 * lean),
      direction: lean > 0 ? 'bullish' : lean < 0 ? 'bearish' : 'neutral',
      source_count: SOCIAL_SOURCES,
    }),
  },
  {
    producer: 'stablecoin-supply',
    type: 'signal.stablecoin.v1',
    payloadOf: ({ symbol, lean }) => ({
      symbol,
      stablecoin: 'USDT',
      supply_change_24h: score(0.5 * lean),
    }),
  },
  {
    producer: 'whale-tracking',
    type: 'signal.whale.v1',
    payloadOf: ({ symbol, lean, volumeUsd }) => ({
      symbol,
      smart_money_netflow: usd(0.01 * volumeUsd * lean),
    }),
  },
]

const MODELS = 5
const SOCIAL_SOURCES = 10

const usd = (amount: number): number => rounded(amount, 100)
const score = (value: number): number => rounded(value, 1e9)
