/** The right of this process, and of no other on the log, to drive feeds, schedule and venues. */
export interface Lease {
  /**
   * Fencing token, larger than that of every earlier leader. The log refuses appends of earlier leaders, and orders
   * contain the token in their name.
   */
  readonly token: number
  /** Whether no other process can lead yet, by the clocks of this process since the store last confirmed the lease. */
  isValid(): boolean
  /**
   * Resolves when the lease has ended for any reason. An unavailable store does not end it, but the lease is not valid
   * meanwhile.
   */
  readonly ended: Promise<void>
  /** Ends the lease at once. Never rejects: while the store is unavailable, the lease expires instead. */
  release(): Promise<void>
}

/** Election of exactly one leader among all processes on a log. */
export interface Leadership {
  /** Returns null while another process leads, without waiting. The token of the lease will be larger than `above`. */
  tryToLead(above: number): Promise<Lease | null>
  close(): Promise<void>
}

/** Stored facts about the leaders. No signature covers them, so it may be checked against the log, and repaired. */
export interface LeaseRecord {
  stored(): Promise<StoredLease>
  /** Removes all leaders with a larger token and ends the lease: the next process to ask becomes the leader. */
  reset(token: number): Promise<void>
}

export interface StoredLease {
  /** Largest token in the store. Beyond 2^53 it is rounded. */
  readonly token: number
  /** Milliseconds until another process may lead; infinite if that never happens. */
  readonly endsInMs: number
}
