/** Suffix of a venue name that selects its practice account, which has separate keys, confirmation and ledger. */
export const SANDBOX = '-sandbox'

/** The exchange behind the name of a venue. */
export const exchangeOf = (venue: string): string =>
  isSandbox(venue) ? venue.slice(0, -SANDBOX.length) : venue

export const isSandbox = (venue: string): boolean => venue.endsWith(SANDBOX)
