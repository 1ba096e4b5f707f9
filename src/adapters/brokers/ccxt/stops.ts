import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import type { MarginMode } from '../../../core/shared/venues.ts'
import type {
  CancelStopResult,
  LookupStopResult,
  PlaceStopResult,
  StopOrder,
  StopReport,
} from '../../../ports/broker.ts'
import { amountOf, coinsOf, sendableQuantity, withinMax, type Contract } from './contracts.ts'
import { priceOf, safeLimit, decimalText } from './decimals.ts'
import type { FoundStop, ListedStop } from './dialects/dialect.ts'
import { failedWith, type Exchange, type Reply } from './exchange.ts'
import { orderWith, type Reports } from './reports.ts'
import { FOREIGN_ID, unclear, UNREADABLE } from './request-failure.ts'

/** Protective stops of an open exchange. */
export interface Stops {
  place(stop: StopOrder): Promise<PlaceStopResult>
  cancel(stop: StopKey): Promise<CancelStopResult>
  lookup(stop: StopKey): Promise<LookupStopResult>
  /** The symbols are spelled as given here. */
  open(symbols: readonly string[]): Promise<readonly StopReport[] | null>
}

type StopKey = Pick<StopOrder, 'clientOrderId' | 'symbol'>

export const createStops = (exchange: Exchange, reports: Reports, marginMode: MarginMode): Stops => {
  const { api, dialect, request } = exchange
  const { codes, stops } = dialect
  const notSent = (reason: string): PlaceStopResult => ({
    status: 'not_sent',
    reason,
    retryAfterMs: exchange.heldBackMs(),
  })

  const find = async (contract: Contract, clientOrderId: string): Promise<Reply<FoundStop | null>> => {
    const reply = await request(() => stops.find(api, contract, clientOrderId))
    const isMissing = reply.status === 'refused' && failedWith(reply, codes.noSuchOrder)
    return isMissing ? { status: 'done', value: null } : reply
  }

  const reportOf = async (
    found: FoundStop,
    symbol: string,
    contract: Contract,
  ): Promise<StopReport | null> => {
    const stop = numbersOf(found, symbol, contract)
    if (stop === null || found.order === null) return stop === null ? null : { ...stop, order: null }
    const sent = orderWith(found.order, found.clientOrderId, contract)
    return sent === null ? null : { ...stop, order: await reports.withTrades(sent, contract) }
  }

  const lookup = async ({ clientOrderId, symbol }: StopKey): Promise<LookupStopResult> => {
    const contract = await exchange.contractOf(symbol)
    if (exchange.isUnlisted(symbol)) return { status: 'unsupported' }
    if (contract.status !== 'done') return unclear(contract.reason)
    const reply = await find(contract.value, clientOrderId)
    if (reply.status !== 'done') return unclear(reply.reason)
    if (reply.value === null) return { status: 'not_found' }
    const stop = await reportOf(reply.value, symbol, contract.value)
    return stop === null ? UNREADABLE : { status: 'found', stop }
  }

  return {
    lookup,

    place: async (order) => {
      const contract = await exchange.contractOf(order.symbol)
      if (contract.status !== 'done') return notSent(contract.reason)
      const { clientOrderId, side } = order
      if (!dialect.clientOrderId.test(clientOrderId)) return notSent(FOREIGN_ID)
      const quantity = sendableQuantity(order.quantity, contract.value)
      if (typeof quantity === 'string') return notSent(quantity)
      const triggerPrice = safeLimit(order.triggerPrice, contract.value.steps.priceStep, side)
      if (triggerPrice <= 0n) return notSent('the trigger is below the smallest step of the exchange')
      const sent = {
        clientOrderId,
        side,
        amount: amountOf(withinMax(quantity, contract.value), contract.value),
        triggerPrice: decimalText(triggerPrice),
        marginMode,
      }
      const reply = await request(() => stops.place(api, contract.value, sent))
      if (reply.status !== 'done' && !failedWith(reply, codes.duplicate)) {
        if (reply.status === 'not_sent') return notSent(reply.reason)
        return reply.status === 'refused' ? rejected(reply.reason) : unclear(reply.reason)
      }
      // Acknowledgements are too short to compare: what counts is what the exchange has.
      const found = await lookup(order)
      if (found.status === 'found')
        return found.stop.status === 'rejected'
          ? rejected('the exchange accepted the stop and then rejected it')
          : { status: 'accepted', stop: found.stop }
      return unclear(
        found.status === 'unclear' ? found.reason : 'the stop was acknowledged, and is not found',
      )
    },

    cancel: async ({ clientOrderId, symbol }) => {
      const contract = await exchange.contractOf(symbol)
      if (contract.status !== 'done') return unclear(contract.reason)
      const found = await find(contract.value, clientOrderId)
      if (found.status !== 'done') return unclear(found.reason)
      const stop = found.value
      if (stop?.status !== 'resting') return { status: 'not_open' }
      const reply = await request(() => stops.cancel(api, contract.value, stop))
      if (reply.status === 'done') return { status: 'canceled' }
      const isGone = reply.status === 'refused' && failedWith(reply, codes.nothingToCancel)
      return isGone ? { status: 'not_open' } : unclear(reply.reason)
    },

    open: async (symbols) => {
      const loaded = exchange.contracts().size > 0 ? null : await exchange.reload()
      if (loaded !== null && loaded.status !== 'done') return null
      const reply = await request(() => stops.open(api))
      if (reply.status !== 'done') return null
      const spelled = new Map(symbols.map((symbol) => [canonicalSymbol(symbol), symbol]))
      const byMarket = new Map([...exchange.contracts().values()].map((entry) => [entry.marketId, entry]))
      const read = reply.value.flatMap((found) => {
        const contract = found === null ? null : byMarket.get(found.marketId)
        // Orders never go to other markets.
        if (contract === undefined) return []
        if (found === null || contract === null) return [null]
        const stop = numbersOf(found, spelled.get(contract.base) ?? contract.base, contract)
        return [stop === null ? null : { ...stop, order: null }]
      })
      // Half a list would mislead.
      return read.includes(null) ? null : read.flatMap((stop) => stop ?? [])
    },
  }
}

const rejected = (reason: string): PlaceStopResult => ({ status: 'rejected', reason })

const numbersOf = (
  { clientOrderId, venueOrderId, side, status, amount, triggerPrice }: ListedStop,
  symbol: string,
  contract: Contract,
): Omit<StopReport, 'order'> | null => {
  const quantity = coinsOf(amount, contract)
  const trigger = priceOf(triggerPrice)
  if (quantity === null || trigger === null) return null
  return { clientOrderId, venueOrderId, symbol, side, status, quantity, triggerPrice: trigger }
}
