import { canonicalSymbol } from '../../shared/symbol.ts'

/** A bar of recorded history. `openMs` is its time in milliseconds since 1970, UTC. */
export interface HistoryBar {
  readonly openMs: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
}

/** Name of a series: bars of one length, of one market, of one venue. */
export interface SeriesName {
  readonly venue: string
  /** `BTC-USDT`: see `seriesSymbol`. */
  readonly symbol: string
  readonly seconds: number
}

/** Name of the series as people write it: `binance:BTC-USDT:1m`. */
export const seriesText = ({ venue, symbol, seconds }: SeriesName): string =>
  `${venue}:${symbol}:${timeframeText(seconds)}`

const DAY_SECONDS = 86_400

const UNITS = { s: 1, m: 60, h: 3600, d: DAY_SECONDS } as const

/** Seconds of `1m`, `4h`, `1d`; null unless they divide a day, since no bar may cross midnight UTC. */
export const timeframeSeconds = (text: string): number | null => {
  const [, count = '', unit = ''] = /^([1-9]\d{0,4})([smhd])$/.exec(text.trim()) ?? []
  const seconds = Number(count) * (UNITS[unit as keyof typeof UNITS] ?? 0)
  return isTimeframe(seconds) ? seconds : null
}

export const isTimeframe = (seconds: number): boolean => seconds > 0 && DAY_SECONDS % seconds === 0

/** Shortest name of a length: 3600 seconds are `1h`. */
export const timeframeText = (seconds: number): string => {
  const [unit, length] = Object.entries(UNITS).findLast(([, unitSeconds]) => seconds % unitSeconds === 0) ?? [
    's',
    1,
  ]
  return `${seconds / length}${unit}`
}

export const TIMEFRAME_RULE = 'a length that divides a day, such as 1m, 5m, 1h, 4h or 1d'

/** Name of a venue in lower case, safe as the name of a folder; null for an invalid name. */
export const venueName = (text: string): string | null => {
  const name = text.trim().toLowerCase()
  return /^[a-z0-9][a-z0-9._-]{0,39}$/.test(name) ? name : null
}

/**
 * Canonical spelling of a market, safe as the name of a folder: `BTC/USDT` and `btcusdt` are `BTC-USDT`, the perpetual
 * `BTC/USDT:USDT` is `BTC-USDT-USDT`. Null if the text names no market, or can name two.
 */
export const seriesSymbol = (text: string, venue: string | null): string | null => {
  const [symbol = null, ...others] = seriesSymbols(text, venue)
  return others.length === 0 ? symbol : null
}

/** All markets that a text can mean. With an unknown venue, `ARBUSD` means `AR-BUSD` or `ARB-USD`. */
export const seriesSymbols = (text: string, venue: string | null): readonly string[] => {
  const name = text.trim().toUpperCase().replaceAll(/[/:_]/g, '-')
  if (!/^[A-Z0-9]+(?:[-.][A-Z0-9]+)*$/.test(name) || name.length > SYMBOL_LENGTH_MAX) return []
  const pairs = /[-.]/.test(name) ? [] : pairsIn(name, venue)
  return pairs.length === 0 ? [name] : pairs
}

const SYMBOL_LENGTH_MAX = 40

/** Whether `wanted` can mean this market: by its whole name, or by its coin alone. */
export const isSymbolMeant = ({ venue, symbol }: SeriesName, wanted: string): boolean =>
  seriesSymbols(wanted, venue).includes(symbol) ||
  (isCoinAlone(wanted, venue) && canonicalSymbol(symbol) === canonicalSymbol(wanted))

const isCoinAlone = (wanted: string, venue: string): boolean =>
  seriesSymbol(wanted, venue) === canonicalSymbol(wanted)

/** Fault in the values of a bar, or null. */
export const historyBarFault = ({ open, high, low, close, volume }: HistoryBar): string | null => {
  if (![open, high, low, close].every((price) => price > 0 && price <= PRICE_MAX)) {
    return 'open, high, low and close must be numbers above 0'
  }
  if (low > Math.min(open, close) || high < Math.max(open, close)) {
    return 'low and high must enclose open and close'
  }
  return volume >= 0 && volume < Infinity ? null : 'volume must be a number, 0 or larger'
}

/** Largest accepted price, as for bars of a feed. A higher one is a unit error. */
const PRICE_MAX = 1e12

export const isSameBar = (one: HistoryBar, other: HistoryBar): boolean =>
  one.open === other.open &&
  one.high === other.high &&
  one.low === other.low &&
  one.close === other.close &&
  one.volume === other.volume

/** `2024-02`. */
export const monthOf = (ms: number): string => new Date(ms).toISOString().slice(0, 7)

/** From its first millisecond to the first of the next. */
export const monthRange = (month: string): { readonly fromMs: number; readonly toMs: number } => {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return { fromMs: Date.UTC(year, number - 1), toMs: Date.UTC(year, number) }
}

/**
 * All markets that a name without a separator can mean, as exchanges write it in their dumps, best known first.
 * `BTCBUSD` ends with USD as well as with BUSD. Empty if the name ends with no quote currency.
 */
const pairsIn = (name: string, venue: string | null): readonly string[] => {
  // The name of a dollar coin alone is not a pair.
  if (QUOTES.some((quote) => quote === name)) return []
  const pairs = QUOTES.filter(
    (quote) => name.endsWith(quote) && name.length - quote.length >= BASE_LENGTH_MIN,
  )
    .map((quote): CurrencyPair => ({ base: name.slice(0, -quote.length), quote }))
    .sort((one, other) => other.quote.length - one.quote.length)
  return likely(pairs, venue).map(({ base, quote }) => `${base}-${quote}`)
}

interface CurrencyPair {
  readonly base: string
  readonly quote: string
}

const BASE_LENGTH_MIN = 2

const QUOTES = [
  'USDT',
  'USDC',
  'FDUSD',
  'BUSD',
  'TUSD',
  'GUSD',
  'PYUSD',
  'RLUSD',
  'USD',
  'AEUR',
  'EUR',
] as const

/** Chooses the likely pairs among two candidates, which are sorted with the longer quote first. */
const likely = (pairs: readonly CurrencyPair[], venue: string | null): readonly CurrencyPair[] => {
  const [longer, shorter] = pairs
  if (longer === undefined || shorter === undefined) return pairs
  // No coin ends with FD.
  if (longer.quote === 'FDUSD') return [longer]
  const [isLongerKnown, isShorterKnown] = [longer, shorter].map(({ base }) => KNOWN_COINS.has(base))
  if (isLongerKnown !== isShorterKnown) return [isLongerKnown === true ? longer : shorter]
  // Against the remaining longer quotes, exchanges trade only the largest coins.
  if (longer.quote !== 'BUSD' && longer.quote !== 'TUSD') return [shorter]
  if (venue !== null && WITHOUT_DOLLARS.has(venue)) return [longer]
  if (venue !== null && WITHOUT_BUSD_AND_TUSD.has(venue)) return [shorter]
  return [longer, shorter]
}

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '))

/** Venues without markets against US dollars. */
const WITHOUT_DOLLARS = setOf('binance binanceusdm htx huobi')
const WITHOUT_BUSD_AND_TUSD = setOf('bitfinex bitstamp bybit coinbase gemini kraken krakenfutures okx')

/** Large coins, and coins whose last letters may be mistaken for the start of a quote. */
const KNOWN_COINS = setOf(
  'AAVE ADA ALGO ANT APE APT AR ARB ATOM AVAX AXS BAT BCH BNB BTC COMP CRO CRV DASH DOGE DOT DYDX EGLD ENJ ENS EOS ETC ' +
    'ETH FET FIL FLOW FTM FTT GALA GMT GRT HBAR HNT ICP IMX INJ KAVA KSM LDO LINK LPT LTC LUNA MANA MATIC MKR MNT NEAR ' +
    'NEO NOT OMG OP PEPE POL QNT QTUM RNDR RUNE SAND SHIB SNT SNX SOL STG STX SUI TON TRX UNI USDC USDT VET WBTC WIF XLM ' +
    'XMR XRP XTZ YFI ZEC ZIL',
)
