import { isOpen, type Account } from './account.ts'
import { equityOf } from './account-routes.ts'
import type { ExchangeResponse, ExchangeRequest } from './requests.ts'
import { textOf, unitsOf } from './decimals.ts'
import type { Fault, Faults } from './faults.ts'
import { fillOpenOrder, liquidate } from './matching.ts'
import type { ExchangeState } from './exchange-state.ts'

/** The true state of the venue. Tests compare the state of the engine with it. */
export interface Journal {
  /** Every accepted order, in order. */
  readonly orders: readonly JournalOrder[]
  readonly trades: readonly JournalTrade[]
  /** Every order that arrived, including those that were refused or lost. */
  readonly attempts: Account['attempts']
  readonly positions: readonly { readonly symbol: string; readonly quantity: string }[]
  readonly wallet: string
  readonly equity: string
}

export interface JournalOrder {
  readonly clientOrderId: string
  readonly orderId: number
  readonly symbol: string
  readonly side: string
  readonly type: string
  readonly quantity: string
  readonly price: string | null
  readonly isReduceOnly: boolean
  readonly status: string
  readonly isOpen: boolean
  readonly executed: string
}

export interface JournalTrade {
  readonly tradeId: number
  readonly clientOrderId: string
  readonly symbol: string
  readonly side: string
  readonly price: string
  readonly quantity: string
  readonly commission: string
  readonly commissionAsset: string
}

/** Changes of the venue that a test in another process may request. */
export interface StateChange {
  readonly prices?: Readonly<Record<string, string>>
  readonly delisted?: readonly string[]
  readonly skewMs?: number
  readonly feeAsset?: string
  readonly wallet?: string
  readonly mayTrade?: boolean
}

/** Regular expressions as text, because messages between processes are JSON. */
export interface FaultRequest {
  readonly request: string
  readonly fault: Fault
  readonly times?: number
}

export interface ScheduleRequest {
  readonly seed: number
  readonly share: number
  readonly choices: readonly { readonly request: string; readonly fault: Fault }[]
}

export const journalOf = (world: ExchangeState): Journal => {
  const { account } = world
  return {
    orders: account.orders.map((order) => ({
      clientOrderId: order.clientOrderId,
      orderId: order.orderId,
      symbol: order.base,
      side: order.side,
      type: order.type,
      quantity: textOf(order.quantity),
      price: order.price === null ? null : textOf(order.price),
      isReduceOnly: order.isReduceOnly,
      status: order.status,
      isOpen: isOpen(order),
      executed: textOf(order.executed),
    })),
    trades: account.trades.map((trade) => ({
      tradeId: trade.tradeId,
      clientOrderId: trade.clientOrderId,
      symbol: trade.base,
      side: trade.side,
      price: textOf(trade.price),
      quantity: textOf(trade.quantity),
      commission: textOf(trade.commission),
      commissionAsset: trade.commissionAsset,
    })),
    attempts: account.attempts,
    positions: [...account.holdings]
      .filter(([, { quantity }]) => quantity !== 0n)
      .map(([symbol, { quantity }]) => ({ symbol, quantity: textOf(quantity) })),
    wallet: textOf(account.wallet),
    equity: textOf(equityOf(world)),
  }
}

/** Handles control requests from another process. */
export const controlOf = (
  dependencies: ControlDependencies,
  { method, path, body }: ExchangeRequest,
): ExchangeResponse => {
  const { world, faults } = dependencies
  switch (`${method} ${path}`) {
    case 'GET control/journal':
      return { status: 200, body: journalOf(world) }
    case 'POST control/world':
      changeWorld(world, JSON.parse(body) as StateChange)
      return DONE
    case 'POST control/faults': {
      const { request, fault, times } = JSON.parse(body) as FaultRequest
      faults.add(new RegExp(request), fault, times)
      return DONE
    }
    case 'DELETE control/faults':
      faults.clear()
      return DONE
    case 'POST control/schedule': {
      const { choices, ...rest } = JSON.parse(body) as ScheduleRequest
      faults.schedule({
        ...rest,
        choices: choices.map(({ request, fault }) => ({ request: new RegExp(request), fault })),
      })
      return DONE
    }
    case 'POST control/fill': {
      const { clientOrderId } = JSON.parse(body) as { readonly clientOrderId: string }
      return { status: 200, body: { filled: fillOpenOrder(world, clientOrderId) } }
    }
    case 'POST control/liquidate':
      liquidate(world, (JSON.parse(body) as { readonly symbol: string }).symbol)
      return DONE
    default:
      return { status: 404, body: {} }
  }
}

interface ControlDependencies {
  readonly world: ExchangeState
  readonly faults: Faults
}

const DONE: ExchangeResponse = { status: 200, body: {} }

const changeWorld = (world: ExchangeState, change: StateChange): void => {
  for (const [base, price] of Object.entries(change.prices ?? {})) world.prices.set(base, exact(price))
  for (const base of change.delisted ?? []) world.delisted.add(base)
  world.skewMs = change.skewMs ?? world.skewMs
  world.account.feeAsset = change.feeAsset ?? world.account.feeAsset
  world.account.mayTrade = change.mayTrade ?? world.account.mayTrade
  if (change.wallet !== undefined) world.account.wallet = exact(change.wallet)
}

const exact = (text: string): bigint => {
  const units = unitsOf(text)
  if (units === null) throw new Error(`${text} is no decimal`)
  return units
}

/** Controls a venue in another process. */
export interface ExchangeControl {
  change(change: StateChange): Promise<void>
  addFault(order: FaultRequest): Promise<void>
  schedule(order: ScheduleRequest): Promise<void>
  clearFaults(): Promise<void>
  /** Fills an order that rests at the venue. False if it was filled or canceled meanwhile. */
  fill(clientOrderId: string): Promise<boolean>
  /** Liquidates a position. */
  liquidate(symbol: string): Promise<void>
  journal(): Promise<Journal>
}

export interface ExchangeAccess {
  readonly baseUrl: string
  readonly apiKey: string
  readonly secret: string
}

export const createExchangeControl = (baseUrl: string): ExchangeControl => {
  const control = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) }
    const response = await fetch(`${baseUrl}/control/${path}`, init)
    if (!response.ok) throw new Error(`the venue says ${response.status} to ${method} ${path}`)
    return response.json()
  }
  const order = async (method: string, path: string, body?: unknown): Promise<void> => {
    await control(method, path, body)
  }
  return {
    change: (change) => order('POST', 'world', change),
    addFault: (fault) => order('POST', 'faults', fault),
    schedule: (schedule) => order('POST', 'schedule', schedule),
    clearFaults: () => order('DELETE', 'faults'),
    fill: async (clientOrderId) => {
      const { filled } = (await control('POST', 'fill', { clientOrderId })) as { readonly filled: boolean }
      return filled
    },
    liquidate: (symbol) => order('POST', 'liquidate', { symbol }),
    journal: async () => (await control('GET', 'journal')) as Journal,
  }
}
