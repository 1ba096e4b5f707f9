import type { Liquidation, VenuePosition } from '../../../ports/broker.ts'
import type { Timer } from '../../../ports/timer.ts'
import type { Connection } from './connection.ts'
import type { Contract } from './contracts.ts'
import { unitsOf } from './decimals.ts'
import type { Reports } from './reports.ts'
import { memberOf, textMemberOf } from './values.ts'

/** What the venue closed by force. */
export interface Liquidations {
  /** Of the last day; null when the venue does not say now. Asked for only when a position became smaller. */
  since(positions: readonly VenuePosition[], trading: Trading): Promise<readonly Liquidation[] | null>
}

/** How markets are called here. */
export interface Trading {
  readonly symbolOf: (market: string) => string
  readonly contractOf: (market: string) => Contract | null
}

export interface LiquidationsDependencies {
  readonly connection: Connection
  readonly reports: Reports
  readonly timer: Timer
}

/** The list is the heaviest request of all: it is read at the start, and when something was closed. */
export const createLiquidations = ({
  connection,
  reports,
  timer,
}: LiquidationsDependencies): Liquidations => {
  const { exchange, ask } = connection
  /** Trades never change: an order whose trades add up is not asked for again. */
  let known: ReadonlyMap<string, readonly Liquidation[]> = new Map()
  let seen: readonly VenuePosition[] | null = null

  const liquidationsOf = async (
    entry: unknown,
    venueOrderId: string,
    { contractOf, symbolOf }: Trading,
  ): Promise<readonly Liquidation[] | null> => {
    const market = textMemberOf(entry, 'symbol')
    const contract = market === null ? null : contractOf(market)
    // Markets that orders never go to are not ours.
    if (market === null || contract === null) return []
    const fills = await reports.fillsOf(venueOrderId, contract)
    const filled = unitsOf(memberOf(entry, 'contracts'))
    if (fills.reduce((sum, { quantity }) => sum + quantity, 0n) !== filled) return null
    const direction = memberOf(entry, 'side') === 'sell' ? 'long' : 'short'
    return fills.map((fill) => ({ ...fill, symbol: symbolOf(market), direction }))
  }

  const read = async (trading: Trading): Promise<readonly Liquidation[] | null> => {
    const sinceMs = timer.now() - DAY_MS
    const reply = await ask(() => exchange.fetchMyLiquidations(undefined, sinceMs, LIQUIDATIONS_MAX))
    if (reply.status !== 'done' || !Array.isArray(reply.value)) return null
    const found = new Map<string, readonly Liquidation[]>()
    for (const entry of reply.value as readonly unknown[]) {
      const venueOrderId = textMemberOf(memberOf(entry, 'info'), 'orderId') ?? ''
      const part = known.get(venueOrderId) ?? (await liquidationsOf(entry, venueOrderId, trading))
      if (part === null) return null
      found.set(venueOrderId, part)
    }
    known = found
    return [...known.values()].flat()
  }

  return {
    since: async (positions, trading) => {
      if (exchange.has['fetchMyLiquidations'] !== true) return []
      if (seen !== null && !hasShrunk(seen, positions)) {
        seen = positions
        return [...known.values()].flat()
      }
      const found = await read(trading)
      if (found !== null) seen = positions
      return found
    },
  }
}

const DAY_MS = 86_400_000
const LIQUIDATIONS_MAX = 100

const hasShrunk = (before: readonly VenuePosition[], after: readonly VenuePosition[]): boolean =>
  before.some(({ symbol, direction, quantity }) => {
    const now = after.find((position) => position.symbol === symbol && position.direction === direction)
    return now === undefined || now.quantity < quantity
  })
