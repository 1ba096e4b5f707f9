import type { Sha256Hex } from '../../../core/log/hash-chain.ts'
import type { FeedBar } from '../../../core/market/bar.ts'
import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import { stepConstantsOf, type Asset, type MarketSettings } from './constants.ts'
import { createDraws, type Draws } from './draws.ts'
import { FIRST_MARKET, nextMarket, type MarketState } from './market-state.ts'
import { shownPrice } from './rounding.ts'
import { firstSymbol, nextSymbol, type SymbolState } from './symbol-state.ts'

export interface PathStart {
  readonly settings: MarketSettings
  readonly segment: number
  readonly symbols: readonly string[]
  /** By canonical symbol. */
  readonly lastBars: ReadonlyMap<string, FeedBar>
  readonly sha256Hex: Sha256Hex
}

/** One symbol on its way: `state` is replaced by every step. */
export interface SymbolPath {
  readonly symbol: string
  readonly asset: Asset
  readonly state: SymbolState
  /** As people see it. */
  readonly price: number
}

/** A market that can only be led forward, the same way every time. */
export interface Path {
  readonly symbols: readonly SymbolPath[]
  market(): MarketState
  step(): void
}

export const createPath = ({ settings, segment, symbols, lastBars, sha256Hex }: PathStart): Path => {
  const constants = stepConstantsOf(settings)
  const drawsOf = (stream: string): Draws => createDraws(settings.seed, segment, stream, sha256Hex)
  const marketDraws = drawsOf('market')
  let market = FIRST_MARKET

  const travellers = symbols.map((symbol): Traveller => {
    const name = canonicalSymbol(symbol)
    const asset = assetOf(settings.sim, name)
    const state = firstStateOf(settings.sim, asset, lastBars.get(name))
    const price = shownPrice(state.price, asset.tick_size)
    return { symbol, asset, draws: drawsOf(`sym:${name}`), state, price }
  })

  return {
    symbols: travellers,
    market: () => market,
    step: () => {
      market = nextMarket(market, marketDraws, constants)
      for (const traveller of travellers) {
        traveller.state = nextSymbol(traveller.state, market, traveller.asset, traveller.draws, constants)
        traveller.price = shownPrice(traveller.state.price, traveller.asset.tick_size)
      }
    },
  }
}

interface Traveller {
  readonly symbol: string
  readonly asset: Asset
  readonly draws: Draws
  state: SymbolState
  price: number
}

const assetOf = (sim: MarketSettings['sim'], name: string): Asset =>
  Object.hasOwn(sim.assets, name) ? (sim.assets[name] ?? sim.other_assets) : sim.other_assets

/** A later segment goes on where the stored one ended, in a sideways market without a swing. */
const firstStateOf = (sim: MarketSettings['sim'], asset: Asset, last: FeedBar | undefined): SymbolState =>
  firstSymbol({
    price: last?.close ?? asset.start_price,
    funding: last?.funding_annualized ?? sim.chop.funding,
    basis: last?.basis_annualized ?? sim.chop.basis,
    fearGreed: last?.fear_greed ?? sim.chop.fear_greed,
  })
