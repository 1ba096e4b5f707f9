import type { FeedBar } from '../../../core/market/bar.ts'
import { type Path, type SymbolPath } from './path.ts'
import { rounded } from './rounding.ts'

export interface BarTime {
  readonly openMs: number
  readonly resolutionSeconds: number
  readonly backfill: boolean
}

/** Aggregates steps into bars. */
export interface BarMaker {
  /** Adds the state after a step. Called once per step. */
  add(): void
  /** The bars of all steps since the last call. Without a step in between the bars are flat. */
  close(time: BarTime): readonly FeedBar[]
}

export const createBarMaker = (path: Path): BarMaker => {
  const drafts = path.symbols.map(flatDraft)
  return {
    add: () => {
      for (const draft of drafts) {
        const { price, state } = draft.symbol
        if (price > draft.high) draft.high = price
        if (price < draft.low) draft.low = price
        draft.volume += state.quoteVolume / price
        draft.quoteVolume += state.quoteVolume
      }
    },
    close: (time) => {
      const openTs = new Date(time.openMs).toISOString()
      const closeTs = new Date(time.openMs + time.resolutionSeconds * 1000).toISOString()
      return drafts.map((draft) => {
        const bar = barOf(draft, time, openTs, closeTs)
        restart(draft)
        return bar
      })
    },
  }
}

interface Draft {
  readonly symbol: SymbolPath
  open: number
  high: number
  low: number
  volume: number
  quoteVolume: number
}

const flatDraft = (symbol: SymbolPath): Draft => ({
  symbol,
  open: symbol.price,
  high: symbol.price,
  low: symbol.price,
  volume: 0,
  quoteVolume: 0,
})

/** Starts a bar at the close of the previous one. */
const restart = (draft: Draft): void => {
  draft.open = draft.symbol.price
  draft.high = draft.open
  draft.low = draft.open
  draft.volume = 0
  draft.quoteVolume = 0
}

const barOf = (draft: Draft, time: BarTime, openTs: string, closeTs: string): FeedBar => {
  const { symbol, price, state, asset } = draft.symbol
  const depthUsd = DEPTH_SHARE * asset.volume_usd
  return {
    symbol,
    resolution_s: time.resolutionSeconds,
    open_ts: openTs,
    close_ts: closeTs,
    open: draft.open,
    high: draft.high,
    low: draft.low,
    close: price,
    volume: rounded(draft.volume, VOLUME_PARTS),
    quote_volume: rounded(draft.quoteVolume, USD_PARTS),
    funding_annualized: rounded(state.fundingAnnualized, RATE_PARTS),
    basis_annualized: rounded(state.basisAnnualized, RATE_PARTS),
    open_interest_usd: null,
    bid_depth_usd: rounded(depthUsd * (1 + state.imbalance), USD_PARTS),
    ask_depth_usd: rounded(depthUsd * (1 - state.imbalance), USD_PARTS),
    fear_greed: state.fearGreed,
    backfill: time.backfill,
  }
}

/** Depth on each side of the book, as a share of a day's volume. */
const DEPTH_SHARE = 0.0005
/** Parts per unit that values are rounded to. */
const RATE_PARTS = 1e4
const USD_PARTS = 100
const VOLUME_PARTS = 1e6
