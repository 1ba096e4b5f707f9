import {
  historyBarFault,
  seriesSymbol,
  seriesSymbols,
  type HistoryBar,
  type SeriesName,
} from '../../../core/market/history/series.ts'
import {
  HistoryError,
  type BarStore,
  type DownloadReport,
  type DownloadRequest,
  type MergeReport,
} from '../../../ports/bar-history.ts'
import type { Timer } from '../../../ports/timer.ts'
import { memberOf } from '../../ccxt.ts'
import { pageLimitOf, readCandles } from './candles.ts'
import { messageOf, openExchange, type Exchange } from './exchange.ts'
import { chooseMarkets } from './markets.ts'

export interface DownloadDependencies {
  readonly store: BarStore
  readonly timer: Timer
  readonly signal: AbortSignal
}

/** Number of consecutive failures after which the download ends. The bars received by then are stored. */
const FAILURES_MAX = 6
/** Bars that are held in memory before they are stored. */
const HELD_MAX = 20_000

/**
 * Fetches the bars of a range that are not stored yet. An interrupted download continues where it stopped, because only
 * stored bars count. Requests keep to the rate limit of the exchange.
 */
export const downloadBars = async (
  request: DownloadRequest,
  { store, timer, signal }: DownloadDependencies,
): Promise<DownloadReport> => {
  const barMs = request.seconds * 1000
  const exchange = await open(request, timer, signal)
  const { market, isSpot } = await findMarket(exchange, request, signal)
  const name = nameOf(request, market)
  const range = {
    fromMs: Math.ceil(request.fromMs / barMs) * barMs,
    // A bar that has not closed would be stored incomplete.
    toMs: Math.floor(Math.min(request.toMs, timer.now() - CLOSED_FOR_MS) / barMs) * barMs,
  }
  const stored = await storedTimes(store, name, range)
  const reports: MergeReport[] = []
  let held: HistoryBar[] = []
  let [requests, received] = [0, 0]
  const flush = async (): Promise<void> => {
    if (held.length > 0) reports.push(await store.merge(name, held, { replaces: false }))
    held = []
  }
  const limit = pageLimitOf(exchange.api, isSpot)
  try {
    for (let nextMs = nextMissing(range.fromMs, stored, barMs); nextMs < range.toMs;) {
      const sinceMs = nextMs
      const page = await repeatedly(exchange, signal, async () =>
        readCandles(
          await exchange.api.fetchOHLCV(market, exchange.resolution.timeframe, sinceMs, limit),
          barMs,
        ),
      )
      requests += 1
      const bars = page.filter(({ openMs }) => openMs >= sinceMs && openMs < range.toMs)
      const wanted = bars.filter((bar) => !stored.has(bar.openMs) && historyBarFault(bar) === null)
      held.push(...wanted)
      received += wanted.length
      // An empty page may be a gap that is longer than a page.
      const lastMs = bars.at(-1)?.openMs ?? sinceMs + (limit - 1) * barMs
      nextMs = nextMissing(lastMs + barMs, stored, barMs)
      if (held.length >= HELD_MAX) await flush()
      const doneMs = Math.min(nextMs, range.toMs) - range.fromMs
      request.onProgress({ doneMs, totalMs: range.toMs - range.fromMs, bars: received })
    }
  } finally {
    // Bars that arrived before an error are stored, too.
    await flush()
    await exchange.closeSockets()
  }
  const expected = Math.max(0, (range.toMs - range.fromMs) / barMs)
  const added = reports.reduce((sum, report) => sum + report.added, 0)
  const repeated = reports.reduce((sum, report) => sum + report.repeated, 0)
  const conflicts = reports.flatMap((report) => report.conflicts)
  return {
    name,
    market,
    requests,
    added,
    replaced: 0,
    repeated,
    conflicts,
    present: stored.size,
    // Bars that another process stored meanwhile are not missing.
    missing: expected - stored.size - added - repeated - conflicts.length,
  }
}

/** Exchanges correct a bar shortly after its close. */
const CLOSED_FOR_MS = 5000

const open = async (request: DownloadRequest, timer: Timer, signal: AbortSignal): Promise<Exchange> => {
  try {
    return await openExchange({
      exchange: request.exchange,
      barSeconds: request.seconds,
      names: { exchange: '--exchange', barSeconds: '--timeframe' },
      ...(request.url === undefined ? {} : { baseUrl: request.url }),
      timer,
      signal,
    })
  } catch (error) {
    throw new HistoryError(messageOf(error), { cause: error })
  }
}

/** The named market, or the market of a coin against dollars: spot first. */
const findMarket = async (
  exchange: Exchange,
  { symbol, exchange: id }: DownloadRequest,
  signal: AbortSignal,
): Promise<{ readonly market: string; readonly isSpot: boolean }> => {
  // Always reloads, because the library would keep a first failure.
  const markets = await repeatedly(exchange, signal, () => exchange.api.loadMarkets(true))
  const listed: readonly unknown[] = Object.values(markets ?? {})
  const meant = seriesSymbols(symbol, id)
  const [named, other] = listed.filter((entry) => {
    const name = memberOf(entry, 'symbol')
    const isMeant = typeof name === 'string' && meant.includes(seriesSymbol(name, id) ?? '')
    return isMeant && (memberOf(entry, 'spot') === true || memberOf(entry, 'swap') === true)
  })
  if (meant.length > 1 && other !== undefined) {
    throw new HistoryError(`${symbol} can be ${meant.join(' or ')} of ${id}: write it with a slash`)
  }
  if (named !== undefined) {
    return { market: String(memberOf(named, 'symbol')), isSpot: memberOf(named, 'spot') === true }
  }
  const [chosen] = chooseMarkets(markets, [symbol]).watched
  // A pair that is not listed must not be replaced by another pair of the coin.
  if (chosen !== undefined && !/[/:_-]|USD[TC]?$/i.test(symbol)) return chosen
  throw new HistoryError(`${id} lists no market ${symbol}`)
}

const nameOf = ({ exchange, seconds }: DownloadRequest, market: string): SeriesName => {
  const symbol = seriesSymbol(market, exchange)
  if (symbol === null) throw new HistoryError(`${market} cannot be the name of a folder`)
  return { venue: exchange, symbol, seconds }
}

const storedTimes = async (
  store: BarStore,
  name: SeriesName,
  range: { readonly fromMs: number; readonly toMs: number },
): Promise<ReadonlySet<number>> => {
  const times = new Set<number>()
  for await (const bars of store.read(name, range)) for (const { openMs } of bars) times.add(openMs)
  return times
}

const nextMissing = (fromMs: number, stored: ReadonlySet<number>, barMs: number): number => {
  let nextMs = fromMs
  while (stored.has(nextMs)) nextMs += barMs
  return nextMs
}

/** Repeats a request until it succeeds, is refused, or has failed too often. The waits between attempts grow. */
const repeatedly = async <T>(
  { request, isRefusal }: Exchange,
  signal: AbortSignal,
  call: () => Promise<T>,
): Promise<T> => {
  for (let failures = 1; ; failures += 1) {
    try {
      return await request(call)
    } catch (error) {
      if (signal.aborted || isRefusal(error) || failures >= FAILURES_MAX) {
        throw new HistoryError(messageOf(error), { cause: error })
      }
    }
  }
}
