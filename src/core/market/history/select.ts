import {
  isSymbolMeant,
  seriesSymbol,
  seriesText,
  timeframeSeconds,
  venueName,
  type SeriesName,
} from './series.ts'

/** A series as people name it: `binance:BTC:1h`, or without the length of its bars. */
export interface SeriesSelector {
  readonly venue: string
  readonly symbol: string
  readonly seconds: number | null
}

/** Returns null if the text names no series. A symbol may contain colons. */
export const parseSelector = (text: string): SeriesSelector | null => {
  const [first = '', ...rest] = text.split(':')
  const venue = venueName(first)
  const last = rest.length > 1 ? (rest.at(-1) ?? '') : ''
  const seconds = timeframeSeconds(last)
  // An unknown length of bars, not a part of the symbol.
  if (seconds === null && /^\d+[a-z]$/i.test(last)) return null
  const symbol = (seconds === null ? rest : rest.slice(0, -1)).join(':')
  return venue === null || symbol === '' ? null : { venue, symbol, seconds }
}

export type SelectedSeries =
  /** `seconds` may be longer than the bars of the source, which are then resampled. */
  | { readonly status: 'found'; readonly source: SeriesName; readonly seconds: number }
  | { readonly status: 'missing'; readonly reason: string }

/** The stored series that the selector names, or shorter bars of the same market that can be resampled to it. */
export const selectSeries = (
  stored: readonly SeriesName[],
  { venue, symbol, seconds }: SeriesSelector,
): SelectedSeries => {
  const alike = stored.filter((name) => name.venue === venue && isSymbolMeant(name, symbol))
  // A market with exactly this name takes precedence over others of the same coin, because it cannot be named in any
  // other way.
  const named = alike.filter((name) => name.symbol === seriesSymbol(symbol, venue))
  const meant = named.length > 0 ? named : alike
  const symbols = [...new Set(meant.map((name) => name.symbol))]
  if (symbols.length > 1) {
    return missing(`${symbol} can be ${symbols.join(' or ')} of ${venue}: name one of them`)
  }
  const fitting = meant
    .filter((name) => seconds === null || seconds % name.seconds === 0)
    .sort((one, other) => one.seconds - other.seconds)
  // Bars of the requested length, else the longest that divide it, which are the fewest to read.
  const source = seconds === null ? fitting[0] : fitting.at(-1)
  if (source !== undefined) return { status: 'found', source, seconds: seconds ?? source.seconds }
  const names = (meant.length > 0 ? meant : stored).map(seriesText)
  const known = names.length === 0 ? 'no bars are stored' : `stored: ${names.join(', ')}`
  return missing(
    `there are no bars of ${symbol} of ${venue}${seconds === null ? '' : ' of that length'}; ${known}`,
  )
}

const missing = (reason: string): SelectedSeries => ({ status: 'missing', reason })
