/** Behind the name of a venue: its practice account, which has keys, a confirmation and a ledger of its own. */
export const SANDBOX = '-sandbox'

export const isSandbox = (venue: string): boolean => venue.endsWith(SANDBOX)
