import { ACCOUNT_ROUTES } from './account-routes.ts'
import { BINANCE_SPECS, type ContractSpecs } from './contracts.ts'
import type { Fault } from './faults.ts'
import { STOP_ROUTES } from './stop-routes.ts'
import { ORDER_ROUTES } from './order-routes.ts'
import { ExchangeRefusal } from './signed.ts'
import { MARKET_ROUTES } from './market-routes.ts'
import { readSigned } from './signed.ts'
import type { ExchangeState } from './exchange-state.ts'

export interface ExchangeRequest {
  readonly method: string
  /** Host, as the venue names it, and path. */
  readonly path: string
  readonly query: string
  readonly body: string
  readonly apiKey: string
  readonly headers: Readonly<Record<string, string>>
}

export interface ExchangeResponse {
  readonly status: number
  readonly body: unknown
}

/** Does what is request, and says what the venue says. */
const respond = (world: ExchangeState, received: ExchangeRequest, fault: Fault | null): ExchangeResponse => {
  // The demo has the same paths on hosts of its own.
  const request = { ...received, path: received.path.replace(/^demo-/, '') }
  const open = MARKET_ROUTES.find(({ path }) => path === request.path)
  const signed = SIGNED_ROUTES.find(({ method, path }) => method === request.method && path === request.path)
  try {
    if (open !== undefined)
      return { status: 200, body: open.answer(world, new URLSearchParams(request.query)) }
    if (signed === undefined) return { status: 404, body: { code: -1, msg: `nothing at ${request.path}` } }
    const query = readSigned(world, { apiKey: request.apiKey, text: `${request.query}${request.body}` })
    return { status: 200, body: signed.answer(world, query, fault) }
  } catch (error) {
    if (!(error instanceof ExchangeRefusal)) throw error
    return { status: error.status, body: { code: error.code, msg: error.message } }
  }
}

const SIGNED_ROUTES = [...ORDER_ROUTES, ...ACCOUNT_ROUTES, ...STOP_ROUTES]

/** How a venue puts on the wire what all have in common: orders, positions, money. */
export interface Wire {
  readonly specs: ContractSpecs
  /** Set up once, before the first request. */
  readonly prepare?: (world: ExchangeState) => void
  readonly respond: (world: ExchangeState, request: ExchangeRequest, fault: Fault | null) => ExchangeResponse
  /** A refusal in the venue's own form. */
  readonly errorBody: (code: string, message: string) => unknown
  /** The venue's code for an unexplained error. */
  readonly unknownCode: string
}

export const BINANCE_WIRE: Wire = {
  specs: BINANCE_SPECS,
  respond,
  errorBody: (code, msg) => ({ code: Number(code), msg }),
  unknownCode: '-1000',
}
