import { EngineClosedError, QueueFullError } from '../../engine/command-queue.ts'
import { StoreUnavailableError } from '../../ports/event-log.ts'

/** What a caller may know of trouble inside: what it can do, never what broke. */
export const errorDetailOf = (error: unknown): string => {
  if (error instanceof StoreUnavailableError) return 'The event store does not answer; nothing was changed'
  if (error instanceof QueueFullError) return 'Too many writes are waiting; nothing was changed'
  if (error instanceof EngineClosedError) return 'The service is stopping; try again in a moment'
  return 'Something unexpected happened; the log has the details'
}
