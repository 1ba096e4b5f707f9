import type { Command } from './commands.ts'
import type { KnownEvent } from './events/catalogue.ts'

/** The wiring of the whole engine: what follows from an event, in the same batch. */
export const consequencesOf = (event: KnownEvent): readonly Command[] => {
  switch (event.type) {
    case 'system.started.v1':
      // Nobody trades on a log that does not verify.
      return event.payload.integrity.ok
        ? []
        : [{ kind: 'escalate', to: 3, cause: { reason: 'integrity_failed', triggers: [] } }]
    default:
      return []
  }
}
