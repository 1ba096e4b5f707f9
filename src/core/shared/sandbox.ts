/** Behind the name of a venue: its practice account, which has keys, a confirmation and a ledger of its own. */
export const SANDBOX = '-sandbox'

/** The exchange behind the name of a venue. */
export const exchangeOf = (venue: string): string =>
  isSandbox(venue) ? venue.slice(0, -SANDBOX.length) : venue

export const isSandbox = (venue: string): boolean => venue.endsWith(SANDBOX)
