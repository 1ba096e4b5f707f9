import type { z } from 'zod'
import type { Command as EngineCommand } from '../../core/commands.ts'
import { decide } from '../../core/decide.ts'
import type { Stamped } from '../../core/log/event.ts'
import type { Decision } from '../../core/vocabulary/decision.ts'
import { faultsOf, sentenceOf } from '../../core/vocabulary/faults.ts'
import { isoNow } from '../../engine/iso-now.ts'
import { sha256Hex } from '../../engine/sha256.ts'
import type { Bench } from './command.ts'
import { openConfiguration } from './configuration.ts'
import { failureOf, UsageError } from './failure.ts'
import { execute, readState, recordWrite, withStore } from './store.ts'
import type { Workshop } from './workshop.ts'

/**
 * Stores what a command leads to, and the name of the command line behind it. Rehearsed first: what is refused
 * leaves no trace, not even of the node that asked.
 */
export const write = async (
  bench: Bench,
  name: string,
  command: EngineCommand,
): Promise<readonly Stamped[]> => {
  const rehearsal = await rehearse(bench.workshop, command)
  if (rehearsal.status === 'refused') throw failureOf(rehearsal.refusal)
  return withStore(bench.workshop, async (session) => {
    const engine = await session.openEngine()
    const events = await execute(engine, command)
    await recordWrite(engine, bench, name)
    return events
  })
}

/** The same rules as at every other door; what breaks one is a wrong use of the command line. */
export const understood = <Schema extends z.ZodType>(schema: Schema, said: unknown): z.output<Schema> => {
  const parsed = schema.safeParse(said)
  if (parsed.success) return parsed.data
  throw new UsageError(faultsOf(parsed.error, [''], { input: said }).map(sentenceOf).join('; '))
}

const rehearse = async (workshop: Workshop, command: EngineCommand): Promise<Decision> => {
  const { clock, version } = workshop
  return decide(await readState(workshop), command, {
    now: isoNow(clock),
    newId: () => clock.newId(),
    traceId: null,
    configuration: (await openConfiguration(workshop)).current(),
    version,
    sha256Hex,
    elapsedMs: () => 0,
  })
}
