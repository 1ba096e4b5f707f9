/** What is true at the venue. Tests change it while it runs. */
export interface World {
  /** The time of the test; the venue's own clock differs from it by `skewMs`. */
  readonly now: () => number
  skewMs: number
  /** Candles that open at this time or later are not told: the venue hangs. */
  candlesEndMs: number
  /** Candles that the venue does not have. */
  readonly missingOpenMs: Set<number>
  /** Answers repeat candles and are out of order. */
  areCandlesShuffled: boolean
  /** Sockets stay open and say nothing. */
  areSocketsMute: boolean
  /** As the venue names them: `btcusdt@miniTicker`. */
  readonly muteStreams: Set<string>
  fundingIntervalHours: number
  readonly spot: readonly string[]
  readonly perpetuals: readonly string[]
}

export const createWorld = (now: () => number): World => ({
  now,
  skewMs: 0,
  candlesEndMs: Number.POSITIVE_INFINITY,
  missingOpenMs: new Set(),
  areCandlesShuffled: false,
  areSocketsMute: false,
  muteStreams: new Set(),
  fundingIntervalHours: 8,
  spot: ['BTC', 'ETH', 'SOL'],
  perpetuals: ['BTC', 'ETH', 'HYPE'],
})

export const venueNow = ({ now, skewMs }: World): number => now() + skewMs

/** The same price at the same time, always. */
export const priceAt = (base: string, ms: number): number =>
  (PRICES[base] ?? 100) * (1 + 0.01 * Math.sin(ms / 7_200_000) + 0.001 * Math.sin(ms / 90_000))

const PRICES: Readonly<Record<string, number>> = { BTC: 60_000, ETH: 3000, SOL: 150, HYPE: 30 }
