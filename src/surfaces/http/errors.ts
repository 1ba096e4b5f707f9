import { EngineClosedError, QueueFullError } from '../../engine/command-queue.ts'
import { ConfigurationFileError } from '../../ports/config-file.ts'
import { StoreUnavailableError } from '../../ports/event-log.ts'
import { problem, type Problem } from './problems.ts'

export const SHUTTING_DOWN = problem('server.shutting_down', 'The service is stopping; try again in a moment')

export const NOTHING_THERE = problem('route.not_found', 'There is nothing at this path')

export const TOO_SLOW = problem(
  'server.timeout',
  'The answer took too long; what was asked may still be done',
)

/** Nothing of the error itself is shown: the log has it, under the request's id. */
export const UNEXPECTED = problem('internal.error', 'Something unexpected happened; the log has the details')

/** Trouble that has a name of its own. Null for everything else, which is a bug. */
export const namedError = (error: unknown): Problem | null => {
  if (error instanceof StoreUnavailableError) {
    return problem('store.unavailable', 'The event store does not answer; nothing was changed')
  }
  if (error instanceof QueueFullError) {
    return problem('store.busy', 'Too many writes are waiting; nothing was changed')
  }
  if (error instanceof EngineClosedError) return SHUTTING_DOWN
  if (error instanceof ConfigurationFileError) {
    return problem('config.not_saved', 'The settings could not be saved; nothing was changed')
  }
  const isMediaType =
    error instanceof Error && 'code' in error && error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE'
  return isMediaType
    ? problem('request.unsupported_media_type', 'The Content-Type header is not a media type')
    : null
}
