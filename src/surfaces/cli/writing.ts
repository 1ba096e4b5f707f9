import type { z } from 'zod'
import type { Command as EngineCommand } from '../../core/decide.ts'
import type { Stamped } from '../../core/log/event.ts'
import type { RunResult } from '../../core/run.ts'
import { faultsOf, sentenceOf } from '../../core/shared/faults.ts'
import { rehearse } from '../../engine/queries/rehearsal.ts'
import type { Bench } from './command.ts'
import { openConfiguration } from './configuration.ts'
import { failureOf, UsageError } from './failure.ts'
import { execute, readState, recordDenial, recordWrite, withStore } from './store.ts'
import type { CommandDependencies } from './dependencies.ts'

/**
 * Stores what a command leads to, and the name of the command line behind it. Rehearsed first: what is refused
 * leaves no trace, not even of the node that asked, unless it is the kill switch that forbids it.
 */
export const write = (bench: Bench, name: string, command: EngineCommand): Promise<readonly Stamped[]> =>
  writeAs(bench, name, () => command)

/** The same for commands that name their operator: the node of this home. */
export const writeAs = async (
  bench: Bench,
  name: string,
  commandBy: (operator: string) => EngineCommand,
): Promise<readonly Stamped[]> => {
  const rehearsal = await rehearsed(bench.dependencies, commandBy('rehearsal'))
  if (rehearsal.status === 'refused') {
    const { code } = rehearsal.refusal
    if (code === 'kill_switch.active') await denied(bench, name, code.replace('.', '_'))
    throw failureOf(rehearsal.refusal)
  }
  return withStore(bench.dependencies, async (session) => {
    const engine = await session.openEngine()
    const events = await execute(engine, commandBy(engine.nodeId))
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

const denied = (bench: Bench, name: string, reason: string): Promise<void> =>
  withStore(bench.dependencies, async (session) =>
    recordDenial(await session.openEngine(), bench, name, reason),
  )

const rehearsed = async (dependencies: CommandDependencies, command: EngineCommand): Promise<RunResult> => {
  const { clock, version } = dependencies
  const configuration = (await openConfiguration(dependencies)).current()
  return rehearse({ fresh: () => readState(dependencies) }, command, { clock, configuration, version })
}
