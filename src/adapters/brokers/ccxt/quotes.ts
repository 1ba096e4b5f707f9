import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import type { VenueQuote } from '../../../ports/broker.ts'
import { memberOf } from '../../ccxt.ts'
import { priceOf } from './decimals.ts'
import type { Exchange } from './exchange.ts'

/** The last price of each symbol, in one request where the exchange allows it. */
export const readQuotes = async (
  exchange: Exchange,
  symbols: readonly string[],
): Promise<readonly VenueQuote[]> => {
  const { api, request, contracts } = exchange
  if (contracts().size === 0) await exchange.reload()
  const traded = symbols.flatMap((symbol) => {
    const contract = contracts().get(canonicalSymbol(symbol))
    return contract?.isActive === true ? [{ symbol, market: contract.market }] : []
  })
  if (traded.length === 0) return []
  const isList = api.has['fetchTickers'] === true
  const all = isList ? await request(() => api.fetchTickers(traded.map(({ market }) => market))) : null
  const quotes: VenueQuote[] = []
  for (const { symbol, market } of traded) {
    const reply = all ?? (await request(() => api.fetchTicker(market)))
    if (reply.status !== 'done') continue
    const price = priceOf(memberOf(isList ? memberOf(reply.value, market) : reply.value, 'last'), 'nearest')
    if (price !== null && price > 0n) quotes.push({ symbol, price })
  }
  return quotes
}
