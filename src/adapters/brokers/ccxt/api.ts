/** Members of the library that the broker uses. Responses are untrusted: numbers are text, and may be missing. */
export interface TradingApi {
  readonly has: Record<string, unknown>
  readonly rateLimit: number
  readonly precisionMode: number
  readonly urls: { api: unknown; readonly test?: unknown; readonly demo?: unknown }
  enableDemoTrading(enable: boolean): void
  setSandboxMode(enable: boolean): void
  readonly options: Record<string, unknown>
  number: (value: unknown) => unknown
  throttle: (cost: unknown) => Promise<void>
  milliseconds: () => number
  amountToPrecision: (market: string, amount: string) => string
  priceToPrecision: (market: string, price: string) => string
  loadMarkets(reload: boolean): Promise<unknown>
  fetchTime(): Promise<unknown>
  fetchTicker(market: string): Promise<unknown>
  fetchTickers(markets: readonly string[]): Promise<unknown>
  fetchBalance(): Promise<unknown>
  fetchPositions(): Promise<unknown>
  fetchPositionMode(market: string): Promise<unknown>
  setLeverage(leverage: number, market: string): Promise<unknown>
  fetchFundingHistory(market: undefined, sinceMs: number, limit: number): Promise<unknown>
  createOrder(
    market: string,
    type: 'limit' | 'market',
    side: 'buy' | 'sell',
    amount: string,
    price: string | undefined,
    params: Params,
  ): Promise<unknown>
  fetchOrder(id: string, market: string, params: Params): Promise<unknown>
  cancelOrder(id: string, market: string, params: Params): Promise<unknown>
  fetchMyTrades(market: string, sinceMs: undefined, limit: number, params: Params): Promise<unknown>
  /** Market by the library's name. */
  market(symbol: string): { readonly id: string }
  /** The library's name of a market of the exchange. */
  safeSymbol(marketId: string, market?: undefined, delimiter?: string, type?: string): string
  parseOrder(entry: unknown, market: unknown): unknown
  parseTrades(entries: readonly unknown[], market: unknown): unknown
  /** In milliseconds of the exchange. */
  nonce(): number
  sign: (
    path: string,
    kind: string,
    method: string,
    params: unknown,
    headers: unknown,
    body: unknown,
  ) => SignedRequest
}

export interface SignedRequest {
  readonly url: string
  readonly method: string
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
}

type Params = Readonly<Record<string, unknown>>
