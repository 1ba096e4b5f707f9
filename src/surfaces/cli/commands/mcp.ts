import { openConfiguration } from '../configuration.ts'
import { examples, type Invocation, type DefineCommand } from '../command.ts'
import { EXIT_OK, type ExitCode } from '../failure.ts'
import { bridgeError, carryMessage, type McpService } from '../mcp-bridge.ts'
import { messageLines, type MessageLine } from '../message-lines.ts'
import type { CommandDependencies } from '../dependencies.ts'

export const define: DefineCommand = (command, run) => {
  command
    .description(
      'Carries messages of the Model Context Protocol between standard input and output, one per line, and the ' +
        'running service. The service is the one at SVC_API_BASE_URL with the token SVC_API_TOKEN; without the ' +
        'former, the one of this home.',
    )
    .addHelpText(
      'after',
      examples('svc mcp', 'SVC_API_BASE_URL=http://10.0.0.2:5050/api/v1 SVC_API_TOKEN=… svc mcp'),
    )
    .action(run((invocation) => bridge(invocation)))
}

/** The service takes no larger body either. */
const LINE_BYTES_MAX = 1024 * 1024

/** One after the other, so that a fast writer waits for the service and not in our memory. */
const bridge = async ({ dependencies, stdin, print }: Invocation): Promise<ExitCode> => {
  const service = await serviceOf(dependencies)
  for await (const line of messageLines(stdin, LINE_BYTES_MAX)) {
    const answer = await answerTo(line, service)
    if (answer !== null) await print.asIs(`${JSON.stringify(answer)}\n`)
  }
  return EXIT_OK
}

const answerTo = async (line: MessageLine, service: McpService): ReturnType<typeof carryMessage> =>
  line.kind === 'message'
    ? carryMessage(line.text, service)
    : bridgeError(null, `a message must not be longer than ${LINE_BYTES_MAX} bytes`)

/** The token of this home is for the service of this home: nobody else is ever sent it. */
const serviceOf = async (dependencies: CommandDependencies): Promise<McpService> => {
  const { SVC_API_BASE_URL: baseUrl, SVC_API_TOKEN: token } = dependencies.environment
  if (baseUrl !== undefined && baseUrl !== '') return { baseUrl, token: nonEmpty(token) }
  const { api } = (await openConfiguration(dependencies)).current()
  return {
    baseUrl: `http://${urlHost(api.host)}:${api.port}/api/v1`,
    token: nonEmpty(token) ?? nonEmpty(api.auth_token),
  }
}

const nonEmpty = (text = ''): string | null => text.trim() || null

/** A service that listens everywhere is found here; an IPv6 address stands in brackets. */
const urlHost = (host: string): string => {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}
