import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import type { BrokerAccount, VenuePosition } from '../../../ports/broker.ts'
import type { Reply } from './connection.ts'
import type { Contract } from './contracts.ts'
import { scaledOf, unitsOf } from './decimals.ts'
import { DOLLARS, memberOf, textMemberOf } from './values.ts'
import type { Venue } from './venue.ts'

/** What the account is worth in coins of the dollar; other coins do not count. Null where it tells none of them. */
export const equityIn = (balance: unknown): bigint | null => {
  const totals = memberOf(balance, 'total')
  const told = DOLLARS.flatMap((dollar) => scaledOf(memberOf(totals, dollar), 6, 'down') ?? [])
  return told.length === 0 ? null : told.reduce((sum, part) => sum + part, 0n)
}

/** Null where it does not answer, or in a way that cannot be read: an account half known is not known. */
export const readAccount = async (
  venue: Venue,
  symbols: readonly string[],
): Promise<BrokerAccount | null> => {
  const { exchange, ask } = venue.connection
  const loaded: Reply<unknown> = venue.contracts().size > 0 ? DONE : await venue.reload()
  if (loaded.status !== 'done') return null
  const balance = await ask(() => exchange.fetchBalance())
  const told = balance.status === 'done' ? await ask(() => exchange.fetchPositions()) : balance
  if (balance.status !== 'done' || told.status !== 'done' || !Array.isArray(told.value)) return null
  const equity = equityIn(balance.value)
  const spelled = new Map(symbols.map((symbol) => [canonicalSymbol(symbol), symbol]))
  const positions: VenuePosition[] = []
  for (const entry of told.value as readonly unknown[]) {
    const position = positionIn(entry, (market) => symbolOf(venue, market, spelled))
    if (position === null) return null
    if (position.quantity > 0n) positions.push(position)
  }
  const liquidations = await venue.liquidations.since(positions, {
    symbolOf: (market) => symbolOf(venue, market, spelled),
    contractOf: (market) => ownContract(venue, market),
  })
  if (equity === null || liquidations === null) return null
  const fundings = await venue.fundings.news((market) =>
    ownContract(venue, market) === null ? null : symbolOf(venue, market, spelled),
  )
  return { equity, positions, liquidations, fundings }
}

const DONE: Reply<unknown> = { status: 'done', value: null }

/** In the spelling of the configuration, else by its base; a market that orders never go to keeps its whole name. */
const symbolOf = (venue: Venue, market: string, spelled: ReadonlyMap<string, string>): string => {
  const contract = ownContract(venue, market)
  return contract === null ? market : (spelled.get(contract.base) ?? contract.base)
}

const ownContract = (venue: Venue, market: string): Contract | null => {
  const contract = venue.contracts().get(market.split('/')[0] ?? '')
  return contract?.market === market ? contract : null
}

const positionIn = (entry: unknown, nameOf: (market: string) => string): VenuePosition | null => {
  const market = textMemberOf(entry, 'symbol')
  const quantity = unitsOf(memberOf(entry, 'contracts'))
  const entryPrice = unitsOf(memberOf(entry, 'entryPrice'), 'nearest')
  const side = memberOf(entry, 'side')
  if (market === null || quantity === null || entryPrice === null) return null
  if (quantity > 0n && side !== 'long' && side !== 'short') return null
  const direction = side === 'short' ? 'short' : 'long'
  return { symbol: nameOf(market), direction, quantity, entryPrice, leverage: leverageIn(entry) }
}

/** Venues that tell no leverage tell what it binds. */
const leverageIn = (entry: unknown): number => {
  const told = Number(textMemberOf(entry, 'leverage') ?? Number.NaN)
  if (told >= 1) return told
  const derived = Number(memberOf(entry, 'notional')) / Number(memberOf(entry, 'initialMargin'))
  return Number.isFinite(derived) && derived >= 1 ? Math.round(derived) : 1
}
