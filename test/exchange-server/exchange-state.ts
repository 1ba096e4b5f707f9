import { createAccount, type Account } from './account.ts'
import { BINANCE_SPECS, priceStepOf, type ContractSpecs } from './contracts.ts'

/** The true state of the venue. Tests change it while it runs. */
export interface ExchangeState {
  /** The time of the test. The venue's own clock differs from it by `skewMs`. */
  readonly now: () => number
  skewMs: number
  /** Candles that open at this time or later are not reported, as if the venue hung. */
  candlesEndMs: number
  /** Candles that the venue does not have. */
  readonly missingOpenMs: Set<number>
  /** Answers repeat candles and are out of order. */
  areCandlesShuffled: boolean
  /** Sockets stay open and send nothing. */
  areSocketsMute: boolean
  /** Silent streams, by the venue's names: `btcusdt@miniTicker`. */
  readonly muteStreams: Set<string>
  fundingIntervalHours: number
  /** Premium of the mark price of perpetuals over spot, as a part of spot. */
  premium: number
  readonly spot: readonly string[]
  readonly perpetuals: readonly string[]
  readonly specs: ContractSpecs
  /** The order that a stop sends has the ids of the stop. */
  ordersKeepStopIds: boolean
  /** True if changes of margin mode and leverage are accepted without effect. */
  areMarginsStuck: boolean
  /** Perpetuals that are no longer listed. */
  readonly delisted: Set<string>
  /** Prices of perpetuals, in hundred-millionths. Without an entry the price moves by itself. */
  readonly prices: Map<string, bigint>
  readonly account: Account
}

export const createExchangeState = (
  now: () => number,
  perpetuals: readonly string[] = PERPETUALS,
  specs: ContractSpecs = BINANCE_SPECS,
): ExchangeState => ({
  now,
  skewMs: 0,
  candlesEndMs: Number.POSITIVE_INFINITY,
  missingOpenMs: new Set(),
  areCandlesShuffled: false,
  areSocketsMute: false,
  muteStreams: new Set(),
  fundingIntervalHours: 8,
  premium: 0.0001,
  spot: ['BTC', 'ETH', 'SOL'],
  perpetuals,
  specs,
  ordersKeepStopIds: false,
  areMarginsStuck: false,
  delisted: new Set(),
  prices: new Map(),
  account: createAccount(),
})

export const exchangeNow = ({ now, skewMs }: ExchangeState): number => now() + skewMs

/** A price that depends only on the time. */
export const priceAt = (base: string, ms: number): number =>
  (PRICES[base] ?? 100) * (1 + 0.01 * Math.sin(ms / 7_200_000) + 0.001 * Math.sin(ms / 90_000))

/** Price at which orders in the perpetual are filled, on a price step. */
export const marketPriceOf = (world: ExchangeState, base: string): bigint => {
  const price = world.prices.get(base) ?? BigInt(Math.round(priceAt(base, exchangeNow(world)) * 1e8))
  return price - (price % priceStepOf(world.specs, base))
}

const PERPETUALS: readonly string[] = ['BTC', 'ETH', 'HYPE']

const PRICES: Readonly<Record<string, number>> = { BTC: 60_000, ETH: 3000, SOL: 150, HYPE: 30 }
