import { isSandbox, SANDBOX } from './sandbox.ts'

/**
 * Facts about a venue that live trading needs. Only venues in this list get real orders: each fact was read in the
 * venue's documentation, and the broker runs its whole contract suite against a server that speaks the venue's
 * protocol.
 */
export interface SupportedVenue {
  /** Name of the venue in the ccxt library and in `execution.venue`. */
  readonly id: VenueId
  readonly name: string
  /** How long after its end an order can still be found by the id that we gave it. */
  readonly findsOrdersFor: string
  /** The longest client order id it accepts. Ours have 32 characters. */
  readonly clientOrderIdLengthMax: number
  /** Reduce-only stop orders rest at the venue, and close a position without us. */
  readonly restsStops: boolean
  /**
   * `refused`: the account can be switched to hedge mode, in which no order is sent. `none`: the venue has no such
   * mode.
   */
  readonly hedgeMode: 'refused' | 'none'
  readonly marginModes: readonly MarginMode[]
  /** Unit in which the venue counts quantities. With either unit, the venue's steps and minimum sizes apply. */
  readonly quantityUnit: 'coins' | 'contracts'
  /** The host of `<venue>-sandbox`. */
  readonly testNetwork: string
  /** An order that arrives later than this after it was signed is not accepted. */
  readonly acceptanceWindowMs: number
  /** Its keys have a passphrase as well: `broker.<venue>.password`. */
  readonly needsPassphrase: boolean
  /** Funding payments are read from the venue; elsewhere they are only part of the balance. */
  readonly reportsFunding: boolean
}

export const VENUE_IDS = ['binanceusdm', 'bybit', 'okx', 'krakenfutures'] as const

export type VenueId = (typeof VENUE_IDS)[number]

/** Isolated: a position can lose only its own margin. Cross: all positions share the margin of the account. */
export const MARGIN_MODES = ['isolated', 'cross'] as const

export type MarginMode = (typeof MARGIN_MODES)[number]

export const SUPPORTED_VENUES: Readonly<Record<VenueId, SupportedVenue>> = {
  binanceusdm: {
    id: 'binanceusdm',
    name: 'Binance USDⓈ-M futures',
    findsOrdersFor: '3 days',
    clientOrderIdLengthMax: 36,
    restsStops: true,
    hedgeMode: 'refused',
    marginModes: ['isolated', 'cross'],
    quantityUnit: 'coins',
    testNetwork: 'demo-fapi.binance.com',
    acceptanceWindowMs: 5000,
    needsPassphrase: false,
    reportsFunding: true,
  },
  bybit: {
    id: 'bybit',
    name: 'Bybit, unified account',
    findsOrdersFor: '2 years',
    clientOrderIdLengthMax: 36,
    restsStops: true,
    hedgeMode: 'refused',
    // The margin mode applies to the whole account, not to one market.
    marginModes: ['isolated', 'cross'],
    quantityUnit: 'coins',
    testNetwork: 'api-testnet.bybit.com',
    acceptanceWindowMs: 5000,
    needsPassphrase: false,
    reportsFunding: false,
  },
  okx: {
    id: 'okx',
    name: 'OKX',
    findsOrdersFor: '2 hours canceled, 3 months filled',
    clientOrderIdLengthMax: 32,
    restsStops: true,
    hedgeMode: 'refused',
    marginModes: ['isolated', 'cross'],
    quantityUnit: 'contracts',
    // The test network has the same host. Requests need the header x-simulated-trading and separate keys.
    testNetwork: 'www.okx.com',
    acceptanceWindowMs: 5000,
    needsPassphrase: true,
    reportsFunding: false,
  },
  krakenfutures: {
    id: 'krakenfutures',
    name: 'Kraken Futures',
    findsOrdersFor: 'the newest 1000 order events',
    clientOrderIdLengthMax: 100,
    restsStops: true,
    hedgeMode: 'none',
    // Setting a leverage makes the market isolated. Cross markets have no leverage to compare.
    marginModes: ['isolated'],
    quantityUnit: 'coins',
    testNetwork: 'demo-futures.kraken.com',
    acceptanceWindowMs: 5000,
    needsPassphrase: false,
    reportsFunding: false,
  },
}

/** By the name in `execution.venue`, with or without `-sandbox`; null for a venue that gets no real orders. */
export const supportedVenue = (name: string): SupportedVenue | null => {
  const id = isSandbox(name) ? name.slice(0, -SANDBOX.length) : name
  const known = VENUE_IDS.find((venue) => venue === id)
  return known === undefined ? null : SUPPORTED_VENUES[known]
}

/** Why a venue gets no real orders, for operators. */
export const unsupportedVenue = (name: string): string =>
  `execution.venue: ${name || '(empty)'} is not supported for live trading; supported are ${VENUE_IDS.join(', ')}, each also with ${SANDBOX} behind its name. Paper trading works with the prices of every venue`

/**
 * How long a venue accepts an order after it was sent. For an unsupported venue, the window of the slowest supported
 * one.
 */
export const acceptanceWindowMs = (name: string): number =>
  supportedVenue(name)?.acceptanceWindowMs ??
  Math.max(...VENUE_IDS.map((id) => SUPPORTED_VENUES[id].acceptanceWindowMs))
