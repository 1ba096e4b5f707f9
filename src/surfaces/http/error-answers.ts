import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ClientGoneError } from './request-body.ts'
import { sendProblem } from './send.ts'
import type { Service } from './service.ts'
import { namedError, NOTHING_THERE, UNEXPECTED } from './errors.ts'

/** What is thrown becomes a problem: the client learns what it can do, the log learns what happened. */
export const addErrorAnswers = (app: FastifyInstance, { logger }: Service): void => {
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, NOTHING_THERE))
  app.setErrorHandler((error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    if (error instanceof ClientGoneError) {
      reply.hijack()
      request.raw.destroy()
      return reply
    }
    if (isForDocs(request) && isClientFault(error)) return sendProblem(reply, NOTHING_THERE)
    const trouble = namedError(error)
    if (trouble === null || trouble.code === 'store.unavailable' || trouble.code === 'config.not_saved') {
      logger.error('a request failed', {
        request_id: request.id,
        route: request.routeOptions.url ?? null,
        error,
      })
    }
    return sendProblem(reply, trouble ?? UNEXPECTED)
  })
}

const isForDocs = ({ routeOptions }: FastifyRequest): boolean => routeOptions.config.endpoint === undefined

/** A path that leads out of the folder, for instance. */
const isClientFault = (error: unknown): boolean =>
  error instanceof Error &&
  'statusCode' in error &&
  typeof error.statusCode === 'number' &&
  error.statusCode < 500
