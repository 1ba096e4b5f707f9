import type { EventItem } from '../api/types.ts'
import type { StreamStatus } from './stream.ts'

/** From the worker that holds the stream to every tab. */
export type ToTab =
  | { readonly kind: 'position' }
  | { readonly kind: 'events'; readonly events: readonly EventItem[] }
  | { readonly kind: 'status'; readonly status: StreamStatus }
  | { readonly kind: 'received'; readonly msAgo: number }

/** From a tab to the worker. */
export type ToWorker = 'reconnect' | 'wake' | 'leave'
