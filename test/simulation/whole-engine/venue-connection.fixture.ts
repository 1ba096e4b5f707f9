import type { Price, Quantity, Usd } from '../../../src/core/shared/money.ts'
import type {
  Broker,
  BrokerFill,
  BrokerOrder,
  CancelResult,
  CancelStopResult,
  Deadline,
  FundingPayment,
  LookupResult,
  LookupStopResult,
  OrderReport,
  RestingStops,
  StopReport,
  SubmitResult,
} from '../../../src/ports/broker.ts'
import type { Market } from './market.fixture.ts'
import {
  filledOf,
  QUANTITY_STEP,
  type PlacedOrder,
  type PlacedStop,
  type Trade,
  type Venue,
} from './venue.fixture.ts'
import { NEVER, type Owner, type World } from './world.fixture.ts'

export interface VenueLink {
  readonly world: World
  readonly venue: Venue
  readonly market: Market
  readonly owner: Owner
  /** Called when an order is sent, before it leaves. */
  readonly onSend: (order: BrokerOrder) => void
  /** True if the process still leads, as far as it knows. */
  readonly maySend: () => boolean
}

/** Time until which everything is refused. It applies to all processes, since they share an address. */
export interface Ban {
  untilMs: number
}

const STEPS = {
  quantityStep: QUANTITY_STEP as Quantity,
  quantityMin: QUANTITY_STEP as Quantity,
  notionalMin: 1_000_000n as Usd,
  priceStep: 1_000_000n as Price,
}

/** A broker within a process. The network to the venue loses, delays and repeats messages. */
export const connectToVenue = (link: VenueLink, ban: Ban): Broker => {
  const { world, venue, market, owner, onSend, maySend } = link
  const random = world.random('network')

  const ask = <Value>(
    label: string,
    lateMs: number,
    effect: () => Value,
    back: { readonly ms: number } = { ms: 0 },
  ) =>
    world.call({
      owner,
      label,
      outMs: lateMs + 20 + random.below(150),
      backMs: back.ms + 20 + random.below(150),
      // A message on the wire may arrive even if its sender is gone.
      survives: random.happens(0.5),
      effect,
    })

  const isBanned = (): boolean => {
    if (world.goesWrong('short_ban', 0.01)) ban.untilMs = Math.max(ban.untilMs, world.nowMs + 8000)
    if (world.goesWrong('long_ban', 0.01)) ban.untilMs = Math.max(ban.untilMs, world.nowMs + 180_000)
    return ban.untilMs > world.nowMs
  }

  const fillOf = ({ id, price, quantity, fee, atMs }: Trade): BrokerFill => ({
    venueTradeId: id,
    price: price as Price,
    quantity: quantity as Quantity,
    feeUsd: fee as Usd,
    atMs,
  })

  const reportOf = (order: PlacedOrder): OrderReport => {
    const listed = order.tradesFromMs > world.nowMs ? [] : order.trades.map(fillOf)
    if (listed.length < order.trades.length) world.count('trades listed late')
    const fills = world.goesWrong('repeated_trades', 0.2) ? [...listed, ...listed].toReversed() : listed
    return {
      clientOrderId: order.request.clientOrderId,
      venueOrderId: order.id,
      status: order.status,
      filledQuantity: filledOf(order) as Quantity,
      fills,
    }
  }

  const place = (order: BrokerOrder, sentMs: number): SubmitResult => {
    const placed = venue.place({
      clientOrderId: order.clientOrderId,
      symbol: order.symbol,
      side: order.side,
      limit: order.limitPrice,
      quantity: order.quantity,
      reduceOnly: order.reduceOnly,
      sentMs,
    })
    return 'refused' in placed
      ? { status: 'rejected', reason: placed.refused }
      : { status: 'accepted', report: reportOf(placed) }
  }

  const notSent = (reason: string) =>
    ({ status: 'not_sent', reason, retryAfterMs: Math.max(0, ban.untilMs - world.nowMs) || null }) as const

  /**
   * Null if the request may leave now. As in every adapter, no request leaves after its deadline or without the lease.
   */
  const heldBack = async (deadline: Deadline) => {
    if (isBanned()) return ask('order banned', 0, () => notSent('too many requests'))
    if (world.goesWrong('submit_stalls', 0.1)) await ask('leverage', 9000 + random.below(40_000), () => null)
    if (deadline.isOver()) return notSent('the time is over')
    return maySend() ? null : notSent('another process leads')
  }

  const submit = async (order: BrokerOrder, deadline: Deadline): Promise<SubmitResult> => {
    const held = await heldBack(deadline)
    if (held !== null) return held
    onSend(order)
    world.count('orders sent')
    const sentMs = world.nowMs
    if (world.goesWrong('request_lost', 0.1)) {
      if (random.happens(0.5)) return NEVER
      return ask('order lost', 500, () => ({ status: 'unclear', reason: 'connection reset' }))
    }
    const lateMs = world.goesWrong('request_late', 0.1) ? 3000 + random.below(16_000) : 0
    const backMs = world.goesWrong('answer_late', 0.06) ? 5000 + random.below(20_000) : 0
    const result = await ask(`order ${order.side} ${order.symbol}`, lateMs, () => place(order, sentMs), {
      ms: backMs,
    })
    if (!world.goesWrong('answer_lost', 0.15)) return result
    if (random.happens(0.5)) return NEVER
    if (random.happens(0.3)) throw new Error('socket hang up')
    return { status: 'unclear', reason: 'HTTP 502' }
  }

  const answer = async <Result>(label: string, effect: () => Result, unclear: Result): Promise<Result> => {
    if (isBanned()) return ask(`${label} banned`, 0, () => unclear)
    if (!world.goesWrong('lookup_fails', 0.08)) return ask(label, 0, effect)
    return ask(`${label} failed`, random.below(12_000), () => unclear)
  }

  const stopReport = (stop: PlacedStop): StopReport => ({
    clientOrderId: stop.request.clientOrderId,
    symbol: stop.request.symbol,
    side: stop.request.side,
    quantity: stop.request.quantity as Quantity,
    triggerPrice: stop.triggerPrice as Price,
    venueOrderId: stop.id,
    status: stop.status,
    order: stop.order === null ? null : reportOf(stop.order),
  })

  const stops: RestingStops = {
    place: async (stop, deadline) => {
      const held = await heldBack(deadline)
      if (held !== null) return held
      const sent = { ...stop, kind: 'market', limitPrice: null, reduceOnly: true, leverage: 1 } as const
      onSend(sent)
      const sentMs = world.nowMs
      if (world.goesWrong('request_lost', 0.06))
        return ask('stop lost', 500, () => ({ status: 'unclear', reason: 'connection reset' }) as const)
      const lateMs = world.goesWrong('request_late', 0.1) ? 3000 + random.below(16_000) : 0
      const placed = await ask(`stop ${stop.side} ${stop.symbol}`, lateMs, () =>
        venue.placeStop({ ...sent, limit: null, sentMs }, stop.triggerPrice),
      )
      if (world.goesWrong('answer_lost', 0.06)) return { status: 'unclear', reason: 'HTTP 502' }
      return 'refused' in placed
        ? { status: 'rejected', reason: placed.refused }
        : { status: 'accepted', stop: stopReport(placed) }
    },
    cancel: ({ clientOrderId }) =>
      answer<CancelStopResult>(
        'cancel stop',
        () => ({ status: venue.cancelStop(clientOrderId) ? 'canceled' : 'not_open' }),
        { status: 'unclear', reason: 'no answer' },
      ),
    lookup: ({ clientOrderId }) =>
      answer<LookupStopResult>(
        'lookup stop',
        () => {
          const stop = venue.findStop(clientOrderId)
          return stop === null ? { status: 'not_found' } : { status: 'found', stop: stopReport(stop) }
        },
        { status: 'unclear', reason: 'no answer' },
      ),
    open: () => answer('stops', () => venue.restingStops().map(stopReport), null),
  }

  const fundings = (): readonly FundingPayment[] =>
    venue.payments.map(({ id, symbol, paid, atMs }) => ({ id, symbol, paidUsd: paid as Usd, atMs }))

  return {
    name: 'simulated venue',
    preflight: () =>
      ask('preflight', 0, () => [{ name: 'reachable', ok: true, detail: 'the venue responds' }] as const),
    stepsOf: (symbol) => (market.symbols.includes(symbol) ? STEPS : null),
    submit,
    stops,
    quotes: (symbols) =>
      answer(
        'quotes',
        () => symbols.map((symbol) => ({ symbol, price: venue.priceOf(symbol) as Price })),
        [],
      ),
    cancel: ({ clientOrderId }) =>
      answer<CancelResult>(
        'cancel',
        () => {
          const order = venue.cancel(clientOrderId)
          return order === null ? { status: 'not_open' } : { status: 'canceled', report: reportOf(order) }
        },
        { status: 'unclear', reason: 'no answer' },
      ),
    lookup: ({ clientOrderId }) =>
      answer<LookupResult>(
        'lookup',
        () => {
          world.count('lookups')
          const order = venue.find(clientOrderId)
          return order === null ? { status: 'not_found' } : { status: 'found', report: reportOf(order) }
        },
        { status: 'unclear', reason: 'no answer' },
      ),
    account: () =>
      answer(
        'account',
        () => ({
          equity: 0n as Usd,
          balance: venue.books.equity((symbol) => venue.entryOf(symbol)) as Usd,
          positions: market.symbols.flatMap((symbol) => {
            const net = venue.books.netOf(symbol)
            if (net === 0n) return []
            const direction = net > 0n ? ('long' as const) : ('short' as const)
            const quantity = (net > 0n ? net : -net) as Quantity
            return [{ symbol, direction, quantity, entryPrice: venue.entryOf(symbol) as Price, leverage: 1 }]
          }),
          fundings: fundings(),
        }),
        null,
      ),
    history: () =>
      answer(
        'history',
        () => ({
          liquidations: venue.forced.map((forced) => ({
            ...fillOf(forced),
            symbol: forced.symbol,
            direction: forced.direction,
          })),
          fundings: fundings(),
        }),
        null,
      ),
    close: () => Promise.resolve(),
  }
}
