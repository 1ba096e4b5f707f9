import { syncBuiltinESMExports } from 'node:module'
import { answerRequests } from './answer-requests.ts'
import type { CodeAnswer, CodeRequest, CodeSubject } from './messages.ts'

/*
 * Runs a file of the user in a process without our variables, which ends with the service that started it. Node's
 * permission model does not limit signals, which could end the service, or open the debugger of any Node process.
 */
for (const name of ['kill', '_kill', '_debugProcess', '_debugEnd']) {
  Object.defineProperty(process, name, {
    value: () => {
      throw Object.assign(new Error('Access to signals has been restricted'), { code: 'ERR_ACCESS_DENIED' })
    },
  })
}
syncBuiltinESMExports()

const send = (answer: CodeAnswer): void => void process.send?.(answer)

process.once('message', (subject: CodeSubject) => {
  const answerTo = answerRequests(subject, send)
  process.on('message', (request: CodeRequest) => answerTo(request))
})
process.on('disconnect', () => process.exit())
