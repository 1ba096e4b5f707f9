/** That this process, and no other on the log, drives feeds, schedule and venues. */
export interface Lease {
  /**
   * Larger than that of every leader before. The log refuses what an earlier one appends, and orders carry it in their
   * name.
   */
  readonly token: number
  /** Whether nobody else can lead yet, by the clocks of this process since the store last confirmed the lease. */
  isValid(): boolean
  /** Resolves when it is over, whoever ended it. A store that is away does not end it: it is not valid meanwhile. */
  readonly ended: Promise<void>
  /** Hands over at once. Never rejects: where the store is away, the lease runs out. */
  release(): Promise<void>
}

/** Of all processes on one log exactly one leads. */
export interface Leadership {
  /** Null while another process leads; never waits for it. The token will be larger than `above`. */
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
