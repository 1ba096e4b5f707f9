import { canonicalSymbol } from '../../../core/vocabulary/symbol.ts'
import { openConnection, type Connection, type ConnectionOptions, type Reply } from './connection.ts'
import { contractOf, type Contract, type Contracts } from './contracts.ts'
import { createFees } from './fees.ts'
import { createLiquidations, type Liquidations } from './liquidations.ts'
import { createReports, type Reports } from './reports.ts'

/** A venue, and what is known of it so far. */
export interface Venue {
  readonly connection: Connection
  readonly reports: Reports
  readonly liquidations: Liquidations
  /** Whether orders can be found by the name we gave them. */
  readonly findsByClientOrderId: boolean
  /** By symbol of the configuration. Loads the markets if that has not been done. */
  contractOf(symbol: string): Promise<Reply<Contract>>
  contracts(): Contracts
  /** Reads the markets again. */
  reload(): Promise<Reply<Contracts>>
  /** The venue does not trade it any more. */
  forget(symbol: string): void
  /** Once for each market: what the venue was told stays. */
  setLeverage(market: string): Promise<Reply<unknown>>
}

export interface VenueOptions extends ConnectionOptions {
  readonly leverage: number
}

/** Rejects for what no waiting mends. */
export const openVenue = async (options: VenueOptions): Promise<Venue> => {
  const connection = await openConnection(options)
  const { exchange, ask } = connection
  const leveraged = new Set<string>()
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
    findsByClientOrderId: FINDS_BY_CLIENT_ORDER_ID.has(options.exchangeId),
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
    setLeverage: async (market) => {
      if (leveraged.has(market) || exchange.has['setLeverage'] !== true)
        return { status: 'done', value: null }
      // Whole numbers alone; rounded up, so that what was planned can be paid for.
      const leverage = Math.max(1, Math.ceil(options.leverage))
      const reply = await ask(() => exchange.setLeverage(leverage, market))
      if (reply.status === 'done') leveraged.add(market)
      return reply
    },
  }
}

/** Where the library passes the name on to the venue's own search. */
const FINDS_BY_CLIENT_ORDER_ID: ReadonlySet<string> = new Set(['binanceusdm'])
