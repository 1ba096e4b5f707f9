import type { FastifyReply } from 'fastify'
import { JSON_TYPE, type Success } from './answers.ts'
import { PROBLEM_TYPE, problemText, statusOf, titleOf, type Problem } from './problems.ts'

export const sendSuccess = (reply: FastifyReply, success: Success): FastifyReply => {
  const isText = success.form === 'text'
  const text = isText ? success.text : JSON.stringify(success.body)
  return reply
    .code(success.status)
    .headers(success.headers)
    .header('content-type', isText ? success.contentType : JSON_TYPE)
    .serializer(asIs)
    .send(text)
}

export const sendProblem = (reply: FastifyReply, problem: Problem): FastifyReply => {
  reply.raw.statusMessage = titleOf(problem.code)
  return reply
    .code(statusOf(problem.code))
    .headers(problem.headers)
    .header('content-type', PROBLEM_TYPE)
    .serializer(asIs)
    .send(problemText(problem, reply.request.id))
}

/** Without one of ours the framework adds a charset, which JSON types do not have. */
const asIs = (text: unknown): string => text as string
