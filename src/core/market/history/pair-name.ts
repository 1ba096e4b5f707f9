/**
 * All markets that a name without a separator can mean, as exchanges write it in their dumps, best known first.
 * `BTCBUSD` ends with USD as well as with BUSD. Empty if the name ends with no quote currency.
 */
export const pairsIn = (name: string, venue: string | null): readonly string[] => {
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
