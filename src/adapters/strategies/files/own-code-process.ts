import { answerRequests } from './answer-requests.ts'
import { forbidSignals } from './forbid-signals.ts'
import type { CodeAnswer, CodeRequest, CodeSubject } from './messages.ts'

// Runs a file of the user in a process without our variables, which ends with the service that started it.
forbidSignals()

const send = (answer: CodeAnswer): void => void process.send?.(answer)

process.once('message', (subject: CodeSubject) => {
  const answerTo = answerRequests(subject, send)
  process.on('message', (request: CodeRequest) => answerTo(request))
})
process.on('disconnect', () => process.exit())
