import { ACCOUNT_ROUTES } from './account-routes.ts'
import type { Fault } from './faults.ts'
import { ORDER_ROUTES } from './order-routes.ts'
import { VenueRefusal } from './refusal.ts'
import { MARKET_ROUTES } from './routes.ts'
import { readSigned } from './signed.ts'
import type { World } from './world.ts'

export interface Asked {
  readonly method: string
  /** Host, as the venue names it, and path. */
  readonly path: string
  readonly query: string
  readonly body: string
  readonly apiKey: string
}

export interface Answer {
  readonly status: number
  readonly body: unknown
}

/** Does what is asked, and says what the venue says. */
export const answerOf = (world: World, asked: Asked, fault: Fault | null): Answer => {
  const open = MARKET_ROUTES.find(({ path }) => path === asked.path)
  const signed = SIGNED_ROUTES.find(({ method, path }) => method === asked.method && path === asked.path)
  try {
    if (open !== undefined) return { status: 200, body: open.answer(world, new URLSearchParams(asked.query)) }
    if (signed === undefined) return { status: 404, body: { code: -1, msg: `nothing at ${asked.path}` } }
    const query = readSigned(world, { apiKey: asked.apiKey, text: `${asked.query}${asked.body}` })
    return { status: 200, body: signed.answer(world, query, fault) }
  } catch (error) {
    if (!(error instanceof VenueRefusal)) throw error
    return { status: error.status, body: { code: error.code, msg: error.message } }
  }
}

const SIGNED_ROUTES = [...ORDER_ROUTES, ...ACCOUNT_ROUTES]
