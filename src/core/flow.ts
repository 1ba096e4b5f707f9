import type { Command } from './commands.ts'
import type { KnownEvent } from './events/catalogue.ts'

/** The wiring of the whole engine: what follows from an event, in the same batch. */
export const consequencesOf = (event: KnownEvent): readonly Command[] => {
  switch (event.type) {
    case 'system.started.v1': {
      const { node_id: nodeId, public_key: publicKey, ephemeral, integrity } = event.payload
      const welcome: Command = { kind: 'welcome-node', node: { nodeId, publicKey, ephemeral } }
      // Nobody trades on a log that does not verify.
      return integrity.ok ? [welcome] : [welcome, { kind: 'escalate', to: 3, cause: DAMAGED_LOG }]
    }
    case 'execution.trade_intent.v1':
      return [{ kind: 'execute-intent', intentId: event.id }]
    default:
      return []
  }
}

const DAMAGED_LOG = { reason: 'integrity_failed', triggers: [] } as const
