/** The venue's data about its only customer. Amounts are whole hundred-millionths. */
export interface Account {
  readonly apiKey: string
  readonly secret: string
  /** Every accepted order, in order. Orders are never removed. */
  readonly orders: VenueOrder[]
  readonly trades: VenueTrade[]
  /** Orders by which the venue itself liquidated positions. */
  readonly forced: VenueOrder[]
  /** Every order that arrived, including those that were refused or lost. */
  readonly attempts: OrderAttempt[]
  readonly holdings: Map<string, Holding>
  readonly leverages: Map<string, number>
  /** Margin mode of each perpetual. Default: the mode of the account. */
  readonly marginModes: Map<string, 'isolated' | 'cross'>
  /** Reduce-only stop orders, resting and ended. */
  readonly stops: VenueStop[]
  /** Margin mode at venues that set it for the whole account. */
  marginMode: 'isolated' | 'cross'
  /** Passphrase, which some venues require in addition to key and secret. */
  readonly passphrase: string
  readonly fundings: VenueFunding[]
  wallet: bigint
  feeAsset: string
  isHedged: boolean
  mayTrade: boolean
  mayWithdraw: boolean
  /** The newest order of each client order id. */
  readonly byClientOrderId: Map<string, VenueOrder>
  readonly byOrderId: Map<number, VenueOrder>
}

export interface VenueOrder {
  readonly orderId: number
  readonly clientOrderId: string
  readonly base: string
  readonly side: Side
  readonly type: 'LIMIT' | 'MARKET'
  readonly timeInForce: string
  readonly quantity: bigint
  readonly price: bigint | null
  readonly isReduceOnly: boolean
  readonly atMs: number
  status: 'NEW' | 'PARTIALLY_FILLED' | 'FILLED' | 'CANCELED' | 'EXPIRED'
  executed: bigint
  /** Sum of price times quantity, in 1e-16. */
  cost: bigint
  updatedMs: number
  /** Number of further lookups that do not find the order. */
  hiddenLookups: number
  readonly trades: VenueTrade[]
}

export interface VenueStop {
  readonly stopId: number
  readonly clientOrderId: string
  readonly base: string
  readonly side: Side
  readonly quantity: bigint
  readonly triggerPrice: bigint
  readonly atMs: number
  status: 'resting' | 'triggered' | 'canceled' | 'rejected'
  /** The order that the stop sent. */
  order: VenueOrder | null
  updatedMs: number
}

export interface VenueTrade {
  readonly tradeId: number
  readonly orderId: number
  readonly clientOrderId: string
  readonly base: string
  readonly side: Side
  readonly price: bigint
  readonly quantity: bigint
  readonly commission: bigint
  readonly commissionAsset: string
  readonly realized: bigint
  readonly atMs: number
  /** Number of further queries that do not list the trade. */
  hiddenQueries: number
}

/** Funding received for holding a position. Below zero: funding paid. */
export interface VenueFunding {
  readonly id: number
  readonly base: string
  readonly income: bigint
  readonly atMs: number
}

export interface OrderAttempt {
  readonly clientOrderId: string
  readonly outcome: 'accepted' | 'refused' | 'lost'
}

/** A position: signed quantity, and its cost in 1e-16. */
export interface Holding {
  readonly quantity: bigint
  readonly cost: bigint
}

export type Side = 'BUY' | 'SELL'

export const createAccount = (): Account => ({
  apiKey: 'venue-key-0123456789',
  // Valid base64, because Kraken's secrets are.
  secret: 'dmVudWUtc2VjcmV0LTk4NzY1NDMyMTA=',
  orders: [],
  trades: [],
  forced: [],
  attempts: [],
  holdings: new Map(),
  leverages: new Map(),
  marginModes: new Map(),
  stops: [],
  marginMode: 'cross',
  passphrase: 'venue-passphrase',
  fundings: [],
  wallet: 10_000_00000000n,
  feeAsset: 'USDT',
  isHedged: false,
  mayTrade: true,
  mayWithdraw: false,
  byClientOrderId: new Map(),
  byOrderId: new Map(),
})

export const isOpen = ({ status }: VenueOrder): boolean => status === 'NEW' || status === 'PARTIALLY_FILLED'

/** Applies a trade to the position. A closed part is realised in proportion, and a remainder opens the other side. */
export const traded = (
  holding: Holding | undefined,
  side: Side,
  price: bigint,
  quantity: bigint,
): { readonly holding: Holding; readonly realized: bigint } => {
  const before = holding ?? { quantity: 0n, cost: 0n }
  const signed = side === 'BUY' ? quantity : -quantity
  if (before.quantity === 0n || before.quantity > 0n === signed > 0n) {
    return {
      holding: { quantity: before.quantity + signed, cost: before.cost + signed * price },
      realized: 0n,
    }
  }
  const held = before.quantity < 0n ? -before.quantity : before.quantity
  const closing = held < quantity ? held : quantity
  const direction = before.quantity > 0n ? 1n : -1n
  const costOfClosed = (before.cost * closing) / held
  const realized = (direction * closing * price - costOfClosed) / 100_000_000n
  const after = before.quantity + signed
  const isTurned = after !== 0n && after > 0n !== before.quantity > 0n
  const cost = isTurned ? after * price : before.cost - costOfClosed
  return { holding: { quantity: after, cost }, realized }
}
