import { nodeId } from '../../../core/shared/brand.ts'
import type { Command } from '../../../core/decide.ts'
import { startTestServer } from '../../http/test-server.fixture.ts'
import { callersOf, resultOf, type ToolAnswer } from '../caller.fixture.ts'

/** A server that knows the producer `p1` and the contributor `ann`, and an agent that talks to it. */
export const startWithAuthors = async () => {
  const server = await startTestServer()
  const accepted = async (command: Command): Promise<void> => {
    const outcome = await server.engine.execute(command)
    if (outcome.status === 'refused') throw new Error(outcome.refusal.code)
  }
  await accepted({
    kind: 'register-producer',
    producer: { name: 'p1', domain: 'onchain', endpoint: 'https://example.com/x', schedule: '*/15 * * * *' },
    surface: 'api',
  })
  await accepted({
    kind: 'register-contributor',
    registration: { nodeId: nodeId('ann'), name: 'Ann', role: 'curator', metadata: {} },
    surface: 'api',
  })
  const { call, tool } = callersOf(server)
  const emit = (args: object): Promise<ToolAnswer> =>
    tool('emit_producer_signal', {
      producer_id: 'p1',
      signal_type: 'signal.onchain.v1',
      payload: { symbol: 'BTC' },
      ...args,
    })
  return { server, call, tool, emit }
}

export const eventIdOf = (answer: ToolAnswer): string =>
  resultOf(answer).structuredContent['event_id'] as string
