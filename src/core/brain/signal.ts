import type { JsonObject } from '../shared/json.ts'

export type Author = Producer | Contributor

export interface Producer {
  readonly kind: 'builtin' | 'registered'
  readonly id: string
  /** 0 to 100; 50 is chance. */
  readonly karma: number
  /** By its newest outcomes; 1 at chance. */
  readonly trust: number
  /** Expected time between two runs; null if nobody knows. */
  readonly intervalMs: number | null
  readonly quarantined: boolean
}

export interface Contributor {
  readonly kind: 'contributor'
  readonly id: string
  /** 0 to 100. */
  readonly score: number
  /** By its newest outcomes; 1 at chance. */
  readonly trust: number
  /** Contributors who act as one share a group and its cap. */
  readonly groupId: string | null
}

/** An author and what stands of his words. */
export interface AuthorSignals {
  readonly author: Author
  /** In the order of the log. */
  readonly said: readonly AuthorSignal[]
}

export interface AuthorSignal {
  readonly id: string
  readonly type: string
  /** In any spelling; null for a signal that names none. */
  readonly symbol: string | null
  /** The earlier of its own time and the time of receipt. */
  readonly effectiveTimeMs: number
  readonly payload: JsonObject
}
