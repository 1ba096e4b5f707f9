import type { FastifyReply } from 'fastify'
import { JSON_TYPE, type Success } from './answers.ts'
import { isBare, PROBLEM_TYPE, problemText, statusOf, titleOf, type Problem } from './problems.ts'

export const sendSuccess = (reply: FastifyReply, success: Success): FastifyReply => {
  reply.code(success.status).headers(success.headers)
  if (success.form === 'empty') return reply.send()
  const isText = success.form === 'text'
  const text = isText ? success.text : JSON.stringify(success.body)
  return reply
    .header('content-type', isText ? success.contentType : JSON_TYPE)
    .serializer(asIs)
    .send(text)
}

export const sendProblem = (reply: FastifyReply, problem: Problem): FastifyReply => {
  reply.raw.statusMessage = titleOf(problem.code)
  return reply
    .code(statusOf(problem.code))
    .headers(problem.headers)
    .header('content-type', isBare(problem.code) ? JSON_TYPE : PROBLEM_TYPE)
    .serializer(asIs)
    .send(problemText(problem, reply.request.id))
}

/** Without one of ours the framework adds a charset, which JSON types do not have. */
const asIs = (text: unknown): string => text as string
