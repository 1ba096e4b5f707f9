export type Order = 'asc' | 'desc'

/** Exclusive bounds on seq. */
export interface SeqBounds {
  readonly after: number
  readonly before: number
}
