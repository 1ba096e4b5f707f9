import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EngineClosedError, QueueFullError } from '../../engine/command-queue.ts'
import { ConfigurationFileError } from '../../ports/config-file.ts'
import { StoreLostError, StoreUnavailableError } from '../../ports/event-log.ts'
import type { Logger } from '../../ports/logger.ts'
import { problem, type Problem } from './problems.ts'
import { ClientGoneError } from './request-body.ts'
import { sendProblem } from './results.ts'

export const SHUTTING_DOWN = problem('server.shutting_down', 'The service is stopping; try again in a moment')

export const NOT_FOUND = problem('route.not_found', 'There is nothing at this path')

export const TOO_SLOW = problem(
  'server.timeout',
  'The request took too long; what it asked for may still be done',
)

export const tooManyClients = (clientsMax: number): Problem =>
  problem('stream.too_many_clients', `Stream client limit (${clientsMax}) reached; try again later`)

/** Turns what is thrown into a problem: the client gets what it can act on, the log gets the error. */
export const addErrorHandlers = (app: FastifyInstance, logger: Logger): void => {
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, NOT_FOUND))
  app.setErrorHandler((error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    if (error instanceof ClientGoneError) {
      reply.hijack()
      request.raw.destroy()
      return reply
    }
    const { url: route = null, config } = request.routeOptions
    // The documentation pages, for instance a path that leads out of their folder.
    if (config.endpoint === undefined && isClientError(error)) return sendProblem(reply, NOT_FOUND)
    const known = knownProblem(error)
    if (known === null || known.code === 'store.unavailable' || known.code === 'config.not_saved')
      logger.error('request failed', { request_id: request.id, route, error })
    return sendProblem(reply, known ?? UNEXPECTED)
  })
}

/** Shows nothing of the error itself: the log has it, under the request's id. */
const UNEXPECTED = problem('internal.error', 'Something unexpected happened; the log has the details')

const LOST =
  'The files of the event store were deleted, exchanged or overwritten while the service ran; nothing was changed, and nothing is ' +
  'stored until an operator has put them back and restarted it'

/** Null for everything without a code of its own, which is a bug. */
const knownProblem = (error: unknown): Problem | null => {
  if (error instanceof StoreLostError) return problem('store.unavailable', LOST)
  if (error instanceof StoreUnavailableError)
    return problem('store.unavailable', 'The event store does not answer; nothing was changed')
  if (error instanceof QueueFullError)
    return problem('store.busy', 'Too many writes are waiting; nothing was changed')
  if (error instanceof EngineClosedError) return SHUTTING_DOWN
  if (error instanceof ConfigurationFileError)
    return problem('config.not_saved', 'The settings could not be saved; nothing was changed')
  const isMediaType =
    error instanceof Error && 'code' in error && error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE'
  return isMediaType
    ? problem('request.unsupported_media_type', 'The Content-Type header is not a media type')
    : null
}

const isClientError = (error: unknown): boolean =>
  error instanceof Error &&
  'statusCode' in error &&
  typeof error.statusCode === 'number' &&
  error.statusCode < 500
