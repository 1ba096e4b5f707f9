import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import { openConnection, type Connection, type ConnectionOptions, type Reply } from './connection.ts'
import { contractOf, type Contract, type Contracts } from './contracts.ts'
import { libraryIdOf } from './exchange.ts'
import { createFees } from './fees.ts'
import { createFundings, type Fundings } from './fundings.ts'
import { createLiquidations, type Liquidations } from './liquidations.ts'
import { createReports, type Reports } from './reports.ts'

/** A venue, and what is known of it so far. */
export interface Venue {
  readonly connection: Connection
  readonly reports: Reports
  readonly liquidations: Liquidations
  readonly fundings: Fundings
  /** Whether orders can be found by the name we gave them. */
  readonly findsByClientOrderId: boolean
  /** By symbol of the configuration. Loads the markets if that has not been done. */
  contractOf(symbol: string): Promise<Reply<Contract>>
  contracts(): Contracts
  /** Reads the markets again. */
  reload(): Promise<Reply<Contracts>>
  /** The venue does not trade it any more. */
  forget(symbol: string): void
  /** Only where the venue was told another one before: what it was told stays. */
  setLeverage(market: string, leverage: number): Promise<Reply<unknown>>
}

/** Rejects for what no waiting mends. */
export const openVenue = async (options: ConnectionOptions): Promise<Venue> => {
  const connection = await openConnection(options)
  const { exchange, ask } = connection
  const leverages = new Map<string, number>()
  let contracts: Contracts | null = null

  const reload = async (): Promise<Reply<Contracts>> => {
    const reply = await connection.loadContracts()
    if (reply.status === 'done') contracts = reply.value
    return reply
  }
  const known = (): Contracts => contracts ?? new Map()

  const { timer, signal } = options
  const fees = createFees({ connection, contracts: known, timer })
  const reports = createReports({ connection, fees, timer, signal })

  return {
    connection,
    reports,
    liquidations: createLiquidations({ connection, reports, timer }),
    fundings: createFundings({ connection, timer, isTold: tellsFunding(options.exchangeId) }),
    findsByClientOrderId: FINDS_BY_CLIENT_ORDER_ID.has(libraryIdOf(options.exchangeId)),
    contracts: known,
    reload,
    contractOf: async (symbol) => {
      const loaded: Reply<Contracts> =
        contracts === null ? await reload() : { status: 'done', value: contracts }
      if (loaded.status !== 'done') return loaded
      const value = contractOf(loaded.value, symbol)
      if (value !== null) return { status: 'done', value }
      return { status: 'refused', code: null, reason: `${symbol} is not traded at ${options.exchangeId}` }
    },
    forget: (symbol) => {
      const base = canonicalSymbol(symbol)
      const contract = known().get(base)
      if (contract !== undefined) contracts = new Map(known()).set(base, { ...contract, isActive: false })
    },
    setLeverage: async (market, wanted) => {
      // Venues take whole numbers alone. Never more than was decided: more brings the liquidation nearer.
      const leverage = Math.max(1, Math.floor(wanted))
      if (leverages.get(market) === leverage || exchange.has['setLeverage'] !== true)
        return { status: 'done', value: null }
      const reply = await ask(() => exchange.setLeverage(leverage, market))
      if (reply.status === 'done') leverages.set(market, leverage)
      else leverages.delete(market)
      return reply
    },
  }
}

/** Where the library reads what the venue charged, and it is known to add up. */
export const tellsFunding = (exchangeId: string): boolean => TELLS_FUNDING.has(libraryIdOf(exchangeId))

const TELLS_FUNDING: ReadonlySet<string> = new Set(['binanceusdm'])

/** Where the library passes the name on to the venue's own search. */
const FINDS_BY_CLIENT_ORDER_ID: ReadonlySet<string> = new Set(['binanceusdm'])
