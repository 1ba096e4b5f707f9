import type { StoredLease } from '../ports/leadership.ts'

/*
 * The tokens and the lease of leaders are stored beside the log without a signature. An attacker who can write the
 * database can set a token so large that no larger one exists, or a lease that never ends. No process could lead then.
 * The log holds the signed token of each leader, which shows the values that the store should hold.
 */

/**
 * Limit of unrecorded tokens. A process that leads and ends before it can write an event leaves one token that the log
 * never records.
 */
const TOKENS_AHEAD_MAX = 1_000_000

/** The longest lease that `store.lease_seconds` allows. */
const LEASE_MS_MAX = 300_000

/** Returns the fault of the stored lease, or null. `recorded`: token of the newest leader in the log. */
export const leaseFaultOf = ({ token, endsInMs }: StoredLease, recorded: number): string | null => {
  if (token > recorded + TOKENS_AHEAD_MAX)
    return `the store names leader ${token}, but the newest leader in the log is ${recorded}`
  if (endsInMs <= LEASE_MS_MAX) return null
  return Number.isFinite(endsInMs)
    ? `the lease of the leader lasts for another ${Math.round(endsInMs / 1000)} s, but no lease is longer than ${LEASE_MS_MAX / 1000} s`
    : 'the lease of the leader never ends'
}
