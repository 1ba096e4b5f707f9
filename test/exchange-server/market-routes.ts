import { contractMarket } from './contracts.ts'
import { textOf } from './decimals.ts'
import { klinesOf } from './klines.ts'
import { ExchangeRefusal } from './signed.ts'
import { priceAt, exchangeNow, type ExchangeState } from './exchange-state.ts'

/** A public endpoint of the venue. */
export interface Route {
  /** Host, as the venue names it, and path. */
  readonly path: string
  readonly answer: (world: ExchangeState, query: URLSearchParams) => unknown
}

const SPOT = 'api.binance.com/api/v3'
const FUTURES = 'fapi.binance.com/fapi/v1'

export const MARKET_ROUTES: readonly Route[] = [
  { path: `${SPOT}/exchangeInfo`, answer: ({ spot }) => ({ symbols: spot.map(spotMarket) }) },
  {
    path: `${FUTURES}/exchangeInfo`,
    answer: ({ perpetuals, delisted }) => ({
      symbols: perpetuals.filter((base) => !delisted.has(base)).map(contractMarket),
    }),
  },
  { path: `${FUTURES}/time`, answer: (world) => ({ serverTime: exchangeNow(world) }) },
  { path: 'dapi.binance.com/dapi/v1/exchangeInfo', answer: () => ({ symbols: [] }) },
  { path: `${SPOT}/time`, answer: (world) => ({ serverTime: exchangeNow(world) }) },
  { path: `${SPOT}/klines`, answer: (world, query) => klines(world, query, world.spot) },
  { path: `${FUTURES}/klines`, answer: (world, query) => klines(world, query, world.perpetuals) },
  { path: `${SPOT}/depth`, answer: (world, query) => depth(world, baseOf(query, world.spot)) },
  { path: `${FUTURES}/depth`, answer: (world, query) => depth(world, baseOf(query, world.perpetuals)) },
  { path: `${SPOT}/ticker/24hr`, answer: (world, query) => ticker(world, baseOf(query, world.spot)) },
  {
    path: `${FUTURES}/ticker/24hr`,
    answer: (world, query) =>
      query.has('symbol')
        ? perpetualTicker(world, baseOf(query, world.perpetuals))
        : world.perpetuals
            .filter((base) => !world.delisted.has(base))
            .map((base) => perpetualTicker(world, base)),
  },
  {
    path: `${FUTURES}/premiumIndex`,
    answer: (world, query) => premium(world, baseOf(query, world.perpetuals)),
  },
  {
    path: `${FUTURES}/openInterest`,
    answer: (world, query) => openInterest(world, baseOf(query, world.perpetuals)),
  },
  {
    path: `${FUTURES}/fundingRate`,
    answer: (world, query) => fundings(world, baseOf(query, world.perpetuals)),
  },
]

const FILTERS = [
  { filterType: 'PRICE_FILTER', minPrice: '0.01', maxPrice: '1000000', tickSize: '0.01' },
  { filterType: 'LOT_SIZE', minQty: '0.00001', maxQty: '9000', stepSize: '0.00001' },
  { filterType: 'NOTIONAL', minNotional: '5' },
]

const spotMarket = (base: string) => ({
  symbol: `${base}USDT`,
  status: 'TRADING',
  baseAsset: base,
  quoteAsset: 'USDT',
  isSpotTradingAllowed: true,
  permissions: ['SPOT'],
  filters: FILTERS,
})

const baseOf = (query: URLSearchParams, listed: readonly string[]): string => {
  const base = query.get('symbol')?.replace(/USDT$/, '') ?? ''
  if (!listed.includes(base)) throw new ExchangeRefusal(-1121, 'Invalid symbol.')
  return base
}

const INTERVAL_MS: Readonly<Record<string, number>> = { '1m': 60_000, '15m': 900_000, '1h': 3_600_000 }

const klines = (world: ExchangeState, query: URLSearchParams, listed: readonly string[]) => {
  const intervalMs = INTERVAL_MS[query.get('interval') ?? '']
  if (intervalMs === undefined) throw new ExchangeRefusal(-1120, 'Invalid interval.')
  const startMs = query.has('startTime') ? Number(query.get('startTime')) : null
  const limit = Math.min(1000, Number(query.get('limit') ?? 500))
  return klinesOf(world, { base: baseOf(query, listed), intervalMs, startMs, limit })
}

/** Two levels on each side, and a third that is more than half a percent away. */
const depth = (world: ExchangeState, base: string) => {
  const price = priceAt(base, exchangeNow(world))
  const level = (share: number, amount: string) => [(price * (1 + share)).toFixed(4), amount]
  return {
    lastUpdateId: 1,
    bids: [level(-0.001, '2'), level(-0.002, '1'), level(-0.02, '1000')],
    asks: [level(0.001, '1'), level(0.002, '1'), level(0.02, '1000')],
  }
}

const ticker = (world: ExchangeState, base: string) => ({
  symbol: `${base}USDT`,
  lastPrice: priceAt(base, exchangeNow(world)).toFixed(4),
  closeTime: exchangeNow(world),
})

/** At the price that orders are filled at, where a test set one. */
const perpetualTicker = (world: ExchangeState, base: string) => {
  const price = world.prices.get(base)
  return price === undefined ? ticker(world, base) : { ...ticker(world, base), lastPrice: textOf(price) }
}

const premium = (world: ExchangeState, base: string) => ({
  symbol: `${base}USDT`,
  markPrice: (priceAt(base, exchangeNow(world)) * (1 + world.premium)).toFixed(8),
  indexPrice: priceAt(base, exchangeNow(world)).toFixed(8),
  lastFundingRate: '0.00010000',
  nextFundingTime: exchangeNow(world) + 1000,
  time: exchangeNow(world),
})

const openInterest = (world: ExchangeState, base: string) => ({
  symbol: `${base}USDT`,
  openInterest: '1000.500',
  time: exchangeNow(world),
})

const fundings = (world: ExchangeState, base: string) => {
  const intervalMs = world.fundingIntervalHours * 3_600_000
  const lastMs = Math.floor(exchangeNow(world) / intervalMs) * intervalMs
  return [lastMs - intervalMs, lastMs].map((ms, index) => ({
    symbol: `${base}USDT`,
    fundingRate: '0.00010000',
    fundingTime: ms + index * 3,
  }))
}
