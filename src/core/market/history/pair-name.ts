/**
 * A market that is written without a separator, as exchanges do in their dumps: `BTCBUSD` ends with USD as well as with
 * BUSD. Every market that it can be, best known first; empty where it ends with no quote currency.
 */
export const pairsIn = (name: string, venue: string | null): readonly string[] => {
  // Dollar coins that are named alone.
  if (QUOTES.some((quote) => quote === name)) return []
  const pairs = QUOTES.filter(
    (quote) => name.endsWith(quote) && name.length - quote.length >= BASE_LENGTH_MIN,
  )
    .map((quote): Pair => ({ base: name.slice(0, -quote.length), quote }))
    .sort((one, other) => other.quote.length - one.quote.length)
  return likely(pairs, venue).map(({ base, quote }) => `${base}-${quote}`)
}

interface Pair {
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

/** Of two pairs that a name can be, the longer quote first. */
const likely = (pairs: readonly Pair[], venue: string | null): readonly Pair[] => {
  const [longer, shorter] = pairs
  if (longer === undefined || shorter === undefined) return pairs
  // No coin ends with FD.
  if (longer.quote === 'FDUSD') return [longer]
  const [isLongerKnown, isShorterKnown] = [longer, shorter].map(({ base }) => KNOWN_COINS.has(base))
  if (isLongerKnown !== isShorterKnown) return [isLongerKnown === true ? longer : shorter]
  // In these, exchanges trade the largest coins only.
  if (longer.quote !== 'BUSD' && longer.quote !== 'TUSD') return [shorter]
  if (venue !== null && WITHOUT_DOLLARS.has(venue)) return [longer]
  if (venue !== null && WITHOUT_BUSD_AND_TUSD.has(venue)) return [shorter]
  return [longer, shorter]
}

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '))

/** Venues with no market against dollars proper. */
const WITHOUT_DOLLARS = setOf('binance binanceusdm htx huobi')
const WITHOUT_BUSD_AND_TUSD = setOf('bitfinex bitstamp bybit coinbase gemini kraken krakenfutures okx')

/** Large coins, and those whose last letters could be taken for the first of a quote. */
const KNOWN_COINS = setOf(
  'AAVE ADA ALGO ANT APE APT AR ARB ATOM AVAX AXS BAT BCH BNB BTC COMP CRO CRV DASH DOGE DOT DYDX EGLD ENJ ENS EOS ETC ' +
    'ETH FET FIL FLOW FTM FTT GALA GMT GRT HBAR HNT ICP IMX INJ KAVA KSM LDO LINK LPT LTC LUNA MANA MATIC MKR MNT NEAR ' +
    'NEO NOT OMG OP PEPE POL QNT QTUM RNDR RUNE SAND SHIB SNT SNX SOL STG STX SUI TON TRX UNI USDC USDT VET WBTC WIF XLM ' +
    'XMR XRP XTZ YFI ZEC ZIL',
)
