import { z } from 'zod'
import { barView, marketSymbolView, priceView, viewPrices, viewSymbols } from '../../../core/views/market.ts'
import { BARS_MAX, storedBars } from '../../../engine/queries/bars.ts'
import { integer, textFilter, timeFilter } from '../fields.ts'
import { ok, okOr } from '../results.ts'
import { route, routes } from '../route.ts'

const MARKET_SYMBOL = {
  symbol: 'BTC',
  in_universe: true,
  bar_seconds: 60,
  last_open_ts: '2026-02-20T00:28:00.000Z',
  last_close_ts: '2026-02-20T00:29:00.000Z',
  last_close: 67_412.5,
}

const PRICE = {
  symbol: 'BTC',
  price: 67_412.5,
  as_of: '2026-02-20T00:29:00.000Z',
  last_close: 67_412.5,
  last_close_ts: '2026-02-20T00:29:00.000Z',
}

const BAR = {
  symbol: 'BTC',
  resolution_s: 60,
  open_ts: '2026-02-20T00:28:00.000Z',
  close_ts: '2026-02-20T00:29:00.000Z',
  open: 67_400,
  high: 67_420,
  low: 67_390,
  close: 67_412.5,
  volume: 3.25,
  quote_volume: 219_090.63,
  backfill: false,
}

export const marketRoutes = routes('Market', {
  listSymbols: route('GET', '/symbols', 'read', {
    summary: 'Symbols of the universe and others with bars, with their newest bar',
    response: z.array(marketSymbolView.meta({ id: 'MarketSymbol' })),
    example: [MARKET_SYMBOL],
    handler: async (_input, { engine, configuration }) =>
      ok(viewSymbols(await engine.fresh(), configuration.current())),
  }),
  listPrices: route('GET', '/prices', 'read', {
    summary: 'The price of each symbol that decisions are made on',
    description: 'A price is null when the newest is older than `market.max_mark_age_seconds`.',
    response: z.array(priceView.meta({ id: 'Price' })),
    example: [PRICE],
    handler: async (_input, { engine, configuration, clock }) =>
      ok(viewPrices(await engine.fresh(), configuration.current(), clock.now())),
  }),
  listBars: route('GET', '/bars', 'read', {
    summary: 'Stored bars, newest first',
    description: 'For the page before, ask with `to` set to the `open_ts` of the last item.',
    query: z.object({
      symbol: textFilter('only bars of this symbol, in any spelling'),
      from: timeFilter('only bars that open at this time or later'),
      to: timeFilter('only bars that open before this time'),
      limit: integer(100, { min: 1, max: BARS_MAX }, 'how many'),
    }),
    response: z.array(barView.meta({ id: 'Bar' })),
    example: [BAR],
    problems: ['symbol.not_found'],
    handler: async ({ query }, { engine }) =>
      okOr(await storedBars(engine, query), 'symbol.not_found', 'there are no bars of this symbol', {
        symbol: query.symbol ?? null,
      }),
  }),
})
