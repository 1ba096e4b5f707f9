import type { MarketView } from '../../../core/market/readings.ts'
import { clamp } from '../../../core/shared/numbers.ts'
import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import type { ProducedRow, Producer, ProducerRun } from '../../../ports/producer.ts'
import type { Draws } from './draws.ts'
import type { Phase } from './market-state.ts'
import { SIMULATED_SOURCES, type SimulatedSource } from './signals.ts'
import type { Path } from './step.ts'

/** What stood behind the prices when the newest bar closed. */
export interface Background {
  /** By canonical symbol. */
  readonly symbols: ReadonlyMap<string, HiddenSymbol>
  readonly drawsOf: (stream: string) => Draws
}

interface HiddenSymbol {
  /** 1 when its phase carries it up, -1 down. */
  readonly drift: number
  /** How far a swing has taken it from where it will return to. */
  readonly stretch: number
  readonly volumeUsd: number
}

/** The sources a simulated market can have beside its prices, since it knows what moves them. */
export const simulatedProducers = (background: () => Background | null): readonly Producer[] =>
  SIMULATED_SOURCES.map((source) => simulatedProducer(source, background))

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

const simulatedProducer = (source: SimulatedSource, background: () => Background | null): Producer => {
  const streams = new Map<string, Draws>()
  let last: { readonly asOfMs: number; readonly run: ProducerRun } | null = null

  const noiseOf = (name: string, { drawsOf }: Background): number => {
    const draws = streams.get(name) ?? drawsOf(`prod:${source.producer}:${name}`)
    streams.set(name, draws)
    return draws.normal()
  }

  const rowsOf = (view: MarketView, known: Background): readonly ProducedRow[] =>
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
      // Asked twice about one moment, a source says the same twice.
      if (last?.asOfMs === view.asOfMs) return last.run
      const known = background()
      if (known === null) return { status: 'degraded', reason: 'the simulated market has not begun' }
      const rows = rowsOf(view, known)
      if (rows.length === 0) return { status: 'degraded', reason: 'no symbol of the universe has a bar' }
      const run: ProducerRun = { status: 'ran', rows }
      last = { asOfMs: view.asOfMs, run }
      return run
    },
  }
}
