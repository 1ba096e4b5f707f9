import { minus, NO_USD } from '../../../core/shared/money.ts'
import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import { isFromFuture } from '../../../core/shared/time.ts'
import type {
  AccountHistory,
  BrokerAccount,
  FundingPayment,
  Liquidation,
  VenuePosition,
} from '../../../ports/broker.ts'
import type { Timer } from '../../../ports/timer.ts'
import { DOLLARS, memberOf, textMemberOf } from '../../ccxt.ts'
import { coinsOf, type Contract, type Contracts } from './contracts.ts'
import { priceOf, quantityOf, usdOf } from './decimals.ts'
import type { LiquidationOrder } from './dialects/dialect.ts'
import type { Exchange } from './exchange.ts'
import { sumOf, type Reports } from './reports.ts'

/** Null where the exchange does not respond, or a response cannot be read: half an account would mislead. */
export interface AccountReader {
  readonly account: (symbols: readonly string[]) => Promise<BrokerAccount | null>
  readonly history: (symbols: readonly string[]) => Promise<AccountHistory | null>
}

export const createAccountReader = (exchange: Exchange, reports: Reports, timer: Timer): AccountReader => {
  const { api, dialect, venue, request, contracts } = exchange
  const readLiquidations = createLiquidationReader(exchange, reports, timer)
  const fundings = createFundingReader(exchange, venue.reportsFunding, timer)

  /** Names of the markets; null where the exchange does not list them. */
  const marketsOf = async (symbols: readonly string[]): Promise<MarketNames | null> => {
    const loaded = contracts().size > 0 ? null : await exchange.reload()
    return loaded !== null && loaded.status !== 'done' ? null : marketNames(contracts(), symbols)
  }

  return {
    account: async (symbols) => {
      const markets = await marketsOf(symbols)
      if (markets === null) return null
      const balance = await request(() => api.fetchBalance())
      if (balance.status !== 'done') return null
      const response = await request(() => api.fetchPositions())
      if (response.status !== 'done' || !Array.isArray(response.value)) return null
      const positions = positionsIn(response.value as readonly unknown[], markets)
      const equity = dialect.equityIn(balance.value)
      if (positions === null || equity === null) return null
      const cash = dialect.balanceIn(balance.value) ?? undefined
      return { equity, balance: cash, positions, fundings: (await fundings.whenDue(markets)) ?? [] }
    },
    history: async (symbols) => {
      const markets = await marketsOf(symbols)
      const liquidations = markets === null ? null : await readLiquidations(markets)
      const payments = markets === null ? null : await fundings.now(markets)
      return liquidations === null || payments === null ? null : { liquidations, fundings: payments }
    },
  }
}

/** Names of the library's markets here. */
interface MarketNames {
  /** In the spelling of the configuration, else its base; a market that orders never go to keeps its whole name. */
  readonly symbolOf: (market: string) => string
  /** Null for a market that orders never go to. */
  readonly contractOf: (market: string) => Contract | null
  /** Whether it is another market of a coin whose orders go to ours: in another dollar, settled in the coin, on margin. */
  readonly isBesideOurs: (market: string) => boolean
}

export const marketNames = (contracts: Contracts, symbols: readonly string[]): MarketNames => {
  const spelled = new Map(symbols.map((symbol) => [canonicalSymbol(symbol), symbol]))
  const ofBase = (market: string): Contract | undefined => contracts.get(market.split('/')[0] ?? '')
  const contractOf = (market: string): Contract | null => {
    const contract = ofBase(market)
    return contract?.market === market ? contract : null
  }
  return {
    contractOf,
    isBesideOurs: (market) => market.includes('/') && ![undefined, market].includes(ofBase(market)?.market),
    symbolOf: (market) => {
      const contract = contractOf(market)
      return contract === null ? market : (spelled.get(contract.base) ?? contract.base)
    },
  }
}

/**
 * Null if one cannot be read. Those in markets beside ours are left out: they would be taken for positions of the same
 * coin in our market, in another unit, and closed there.
 */
export const positionsIn = (
  entries: readonly unknown[],
  markets: MarketNames,
): readonly VenuePosition[] | null => {
  const read = entries
    .filter((entry) => quantityOf(memberOf(entry, 'contracts')) !== 0n)
    .filter((entry) => !markets.isBesideOurs(textMemberOf(entry, 'symbol') ?? ''))
    .map((entry) => positionIn(entry, markets))
  return read.includes(null) ? null : read.flatMap((position) => position ?? [])
}

const positionIn = (entry: unknown, { symbolOf, contractOf }: MarketNames): VenuePosition | null => {
  const market = textMemberOf(entry, 'symbol')
  const size = memberOf(entry, 'contracts')
  const contract = market === null ? null : contractOf(market)
  const quantity = contract === null ? quantityOf(size) : coinsOf(size, contract)
  const entryPrice = priceOf(memberOf(entry, 'entryPrice'), 'nearest')
  const direction = memberOf(entry, 'side')
  if (market === null || quantity === null || entryPrice === null) return null
  if (direction !== 'long' && direction !== 'short') return null
  return { symbol: symbolOf(market), direction, quantity, entryPrice, leverage: leverageIn(entry) }
}

/** Derived from the margin where the exchange does not report it. */
const leverageIn = (entry: unknown): number => {
  const reported = Number(textMemberOf(entry, 'leverage') ?? Number.NaN)
  if (reported >= 1) return reported
  const derived = Number(memberOf(entry, 'notional')) / Number(memberOf(entry, 'initialMargin'))
  return Number.isFinite(derived) && derived >= 1 ? Math.round(derived) : 1
}

/** Liquidations of the last day; null when they are unknown now. */
type ReadLiquidations = (markets: MarketNames) => Promise<readonly Liquidation[] | null>

const createLiquidationReader = (
  { api, dialect, request }: Exchange,
  reports: Reports,
  timer: Timer,
): ReadLiquidations => {
  /** Trades never change: an order whose trades add up is not requested again. */
  let known: ReadonlyMap<string, readonly Liquidation[]> = new Map()

  const liquidationsOf = async (
    { market, venueOrderId, amount, side }: LiquidationOrder,
    { contractOf, symbolOf }: MarketNames,
  ): Promise<readonly Liquidation[] | null> => {
    const contract = contractOf(market)
    if (contract === null) return []
    const fills = await reports.fillsOf(venueOrderId, contract)
    if (sumOf(fills) !== coinsOf(amount, contract)) return null
    const direction = side === 'sell' ? 'long' : 'short'
    return fills.map((fill) => ({ ...fill, symbol: symbolOf(market), direction }))
  }

  return async (markets) => {
    const sinceMs = timer.now() - DAY_MS
    const reply = await request(async () => (await dialect.liquidations?.(api, sinceMs)) ?? [])
    if (reply.status !== 'done') return null
    const found = new Map<string, readonly Liquidation[]>()
    for (const order of reply.value) {
      const liquidations = known.get(order.venueOrderId) ?? (await liquidationsOf(order, markets))
      if (liquidations === null) return null
      found.set(order.venueOrderId, liquidations)
    }
    known = found
    return [...known.values()].flat()
  }
}

const DAY_MS = 86_400_000

/** New payments; null when they are unknown now, and they come the next time. */
type ReadFundings = (markets: MarketNames) => Promise<readonly FundingPayment[] | null>

/**
 * Reads funding payments. Payments are made every few hours, so the expensive list is read every few minutes, or on
 * request.
 */
const createFundingReader = (
  { api, request }: Exchange,
  isReported: boolean,
  timer: Timer,
): { readonly whenDue: ReadFundings; readonly now: ReadFundings } => {
  let sinceMs = timer.now() - 7 * DAY_MS
  // Not read with the first request for the account, because entries wait for that.
  let nextMs = timer.now() + PAUSE_AT_START_MS
  const read: ReadFundings = async (markets) => {
    if (!isReported || api.has['fetchFundingHistory'] !== true) return []
    const nowMs = timer.now()
    const reply = await request(() => api.fetchFundingHistory(undefined, sinceMs, PAYMENTS_MAX))
    if (reply.status !== 'done' || !Array.isArray(reply.value)) return null
    const entries = reply.value as readonly unknown[]
    const isComplete = entries.length < PAYMENTS_MAX
    nextMs = isComplete ? nowMs + PAUSE_MS : 0
    const payments = entries.flatMap((entry) => paymentIn(entry, markets, nowMs) ?? [])
    const newestMs = Math.max(sinceMs, ...payments.map(({ atMs }) => atMs))
    // A payment may be listed late: reporting it again is better than missing it.
    sinceMs = isComplete ? Math.max(sinceMs, newestMs - OVERLAP_MS) : newestMs
    return payments
  }
  return { whenDue: async (markets) => (timer.now() < nextMs ? [] : read(markets)), now: read }
}

const PAUSE_AT_START_MS = 20_000
const PAUSE_MS = 5 * 60_000
const OVERLAP_MS = 60 * 60_000
const PAYMENTS_MAX = 1000

/**
 * Null for payments in other coins, or for markets that orders never go to. Also for a payment of the future: reading
 * would go on from its time, and miss all payments before it.
 */
const paymentIn = (
  entry: unknown,
  { contractOf, symbolOf }: MarketNames,
  nowMs: number,
): FundingPayment | null => {
  const id = textMemberOf(entry, 'id')
  const market = textMemberOf(entry, 'symbol') ?? ''
  // The exchange reports what was received.
  const received = usdOf(memberOf(entry, 'amount'), 'down')
  const atMs = Math.trunc(Number(memberOf(entry, 'timestamp')))
  const isDollar = DOLLARS.some((dollar) => dollar === memberOf(entry, 'code'))
  if (id === null || contractOf(market) === null || received === null || !isDollar) return null
  if (!(atMs > 0) || isFromFuture(atMs, nowMs)) return null
  return { id, symbol: symbolOf(market), paidUsd: minus(NO_USD, received), atMs }
}
