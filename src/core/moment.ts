import type { Configuration } from './config/schema.ts'

/** What a decision may know beyond the log: time, chance, and the operator's settings at that time. */
export interface Moment {
  readonly now: string
  readonly newId: () => string
  /** Ties the events of one request together. */
  readonly traceId: string | null
  readonly configuration: Configuration
}
