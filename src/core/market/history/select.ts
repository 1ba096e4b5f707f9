import {
  isSymbolMeant,
  seriesSymbol,
  seriesText,
  timeframeSeconds,
  venueName,
  type SeriesName,
} from './series.ts'

/** A series as people name it: `binance:BTC:1h`, or without its length. */
export interface SeriesSelector {
  readonly venue: string
  readonly symbol: string
  readonly seconds: number | null
}

/** Null for what names no series. A symbol may hold colons itself. */
export const parseSelector = (text: string): SeriesSelector | null => {
  const [first = '', ...rest] = text.split(':')
  const venue = venueName(first)
  const last = rest.length > 1 ? (rest.at(-1) ?? '') : ''
  const seconds = timeframeSeconds(last)
  // A length that there is not, rather than a part of the symbol.
  if (seconds === null && /^\d+[a-z]$/i.test(last)) return null
  const symbol = (seconds === null ? rest : rest.slice(0, -1)).join(':')
  return venue === null || symbol === '' ? null : { venue, symbol, seconds }
}

export type SelectedSeries =
  /** `seconds` may be longer than the bars of the source, which are then resampled. */
  | { readonly status: 'found'; readonly source: SeriesName; readonly seconds: number }
  | { readonly status: 'missing'; readonly reason: string }

/** The stored series that is meant, or shorter bars of the same market that it can be made of. */
export const selectSeries = (
  stored: readonly SeriesName[],
  { venue, symbol, seconds }: SeriesSelector,
): SelectedSeries => {
  const alike = stored.filter((name) => name.venue === venue && isSymbolMeant(name, symbol))
  // A market that has the very name comes before those of the same coin: it has no other.
  const named = alike.filter((name) => name.symbol === seriesSymbol(symbol, venue))
  const meant = named.length > 0 ? named : alike
  const symbols = [...new Set(meant.map((name) => name.symbol))]
  if (symbols.length > 1) {
    return missing(`${symbol} can be ${symbols.join(' or ')} of ${venue}: name one of them`)
  }
  const fitting = meant
    .filter((name) => seconds === null || seconds % name.seconds === 0)
    .sort((one, other) => one.seconds - other.seconds)
  // Of the length that is asked for, else the longest that divides it: the least to read.
  const source = seconds === null ? fitting[0] : fitting.at(-1)
  if (source !== undefined) return { status: 'found', source, seconds: seconds ?? source.seconds }
  const names = (meant.length > 0 ? meant : stored).map(seriesText)
  const known = names.length === 0 ? 'no bars are stored' : `stored: ${names.join(', ')}`
  return missing(
    `there are no bars of ${symbol} of ${venue}${seconds === null ? '' : ' of that length'}; ${known}`,
  )
}

const missing = (reason: string): SelectedSeries => ({ status: 'missing', reason })
