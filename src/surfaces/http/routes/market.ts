import { z } from 'zod'
import { barView, marketSymbolView, priceView, viewPrices, viewSymbols } from '../../../core/views/market.ts'
import { BARS_MAX, storedBars } from '../../../engine/queries/bars.ts'
import { BAR, MARKET_SYMBOL, PRICE } from '../examples-trading.ts'
import { integer, textFilter, timeFilter } from '../fields.ts'
import { ok, okOr } from '../results.ts'
import { route, routes } from '../route.ts'

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
