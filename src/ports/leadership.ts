/** That this process, and no other on the log, drives feeds, schedule and venues. */
export interface Lease {
  /** Resolves when it is over, whoever ended it. */
  readonly ended: Promise<void>
  release(): Promise<void>
}

/** Of all processes on one log exactly one leads. */
export interface Leadership {
  /** Null while another process leads. Never waits for it. */
  tryToLead(): Promise<Lease | null>
}
