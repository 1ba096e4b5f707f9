import type { Side, VenueStop } from './account.ts'
import { checkSteps } from './contracts.ts'
import type { ExchangeState } from './exchange-state.ts'
import { exchangeNow, marketPriceOf } from './exchange-state.ts'
import { placeOrder } from './matching.ts'
import { ExchangeRefusal } from './signed.ts'

export interface StopRequest {
  readonly clientOrderId: string
  readonly base: string
  readonly side: Side
  readonly quantity: bigint
  readonly triggerPrice: bigint
}

/** Accepts a reduce-only stop, or throws what the venue refuses. */
export const placeStop = (world: ExchangeState, request: StopRequest): VenueStop => {
  const { account } = world
  const { base, side, quantity, triggerPrice, clientOrderId } = request
  if (account.stops.some((stop) => stop.clientOrderId === clientOrderId))
    throw new ExchangeRefusal(-4116, 'ClientOrderId is duplicated.')
  checkSteps(world.specs, base, { quantity, price: triggerPrice })
  if (isReached(side, triggerPrice, marketPriceOf(world, base)))
    throw new ExchangeRefusal(-2021, 'Order would immediately trigger.')
  const atMs = exchangeNow(world)
  const stop: VenueStop = {
    ...request,
    stopId: FIRST_STOP_ID + account.stops.length,
    atMs,
    updatedMs: atMs,
    status: 'resting',
    order: null,
  }
  account.stops.push(stop)
  return stop
}

export const stopOf = ({ account }: ExchangeState, clientOrderId: string | null): VenueStop | null =>
  account.stops.find((stop) => stop.clientOrderId === clientOrderId) ?? null

export const cancelStop = (world: ExchangeState, stop: VenueStop | null): VenueStop => {
  if (stop?.status !== 'resting') throw new ExchangeRefusal(-2011, 'Unknown order sent.')
  stop.status = 'canceled'
  stop.updatedMs = exchangeNow(world)
  return stop
}

/** A new price; stops that it reaches send their orders. */
export const movePrice = (world: ExchangeState, base: string, price: bigint): void => {
  world.prices.set(base, price)
  for (const stop of world.account.stops) {
    if (stop.base !== base || stop.status !== 'resting') continue
    if (!isReached(stop.side, stop.triggerPrice, marketPriceOf(world, base))) continue
    trigger(world, stop)
  }
}

const trigger = (world: ExchangeState, stop: VenueStop): void => {
  stop.updatedMs = exchangeNow(world)
  try {
    stop.order = placeOrder(
      world,
      {
        // Some venues send the order under the id of the stop, others under one of their own.
        clientOrderId: world.ordersKeepStopIds ? stop.clientOrderId : `algo${stop.stopId}`,
        ...(world.ordersKeepStopIds ? { orderId: stop.stopId } : {}),
        base: stop.base,
        side: stop.side,
        type: 'MARKET',
        timeInForce: 'IOC',
        quantity: stop.quantity,
        price: null,
        isReduceOnly: true,
      },
      null,
    )
    stop.status = 'triggered'
  } catch (error) {
    // There was nothing left to reduce.
    if (!(error instanceof ExchangeRefusal)) throw error
    stop.status = 'rejected'
  }
}

const isReached = (side: Side, triggerPrice: bigint, price: bigint): boolean =>
  side === 'SELL' ? price <= triggerPrice : price >= triggerPrice

const FIRST_STOP_ID = 2_146_760
