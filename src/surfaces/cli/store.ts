import type { z } from 'zod'
import type { Command as EngineCommand } from '../../core/decide.ts'
import type { Stamped } from '../../core/log/event.ts'
import type { RunResult } from '../../core/run.ts'
import { faultsOf, sentenceOf } from '../../core/shared/faults.ts'
import { INITIAL_STATE, type State } from '../../core/state.ts'
import type { Engine } from '../../engine/engine.ts'
import { catchUp, recall } from '../../engine/memory.ts'
import type { Trust } from '../../engine/integrity/trust.ts'
import { rehearse } from '../../engine/queries/views.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Invocation } from './command.ts'
import { openConfiguration } from './configuration.ts'
import type { CommandDependencies, StoreSession } from './dependencies.ts'
import { Failure, failureOf, UsageError } from './failure.ts'
import { knownRefusal } from '../../engine/queries/trading-records.ts'

/** Uses the store of this home, which must exist. */
export const withExistingStore = async <Result>(
  dependencies: CommandDependencies,
  use: (session: StoreSession) => Promise<Result>,
): Promise<Result> => {
  const session = await dependencies.openExistingStore()
  if (session === null) {
    throw new Failure('store.missing', `there is no event store in ${dependencies.home} yet`, {
      advice: 'Start the service once with "svc up", or name another folder with --home.',
    })
  }
  return closing(session, use)
}

/** Uses the store of this home, which is created if it does not exist. */
export const withStore = async <Result>(
  dependencies: CommandDependencies,
  use: (session: StoreSession) => Promise<Result>,
): Promise<Result> => closing(await dependencies.openStore(), use)

/** Reads the log of this home; without a store the result is `otherwise`, and nothing is created. */
export const withLog = async <Result>(
  dependencies: CommandDependencies,
  read: (log: EventLog, trust: Trust) => Promise<Result>,
  otherwise: Result,
): Promise<Result> => {
  const session = await dependencies.openExistingStore()
  return session === null ? otherwise : closing(session, async ({ log, trust }) => read(log, await trust()))
}

export const readState = (dependencies: CommandDependencies): Promise<State> =>
  withLog(dependencies, stateOf, INITIAL_STATE)

/** Nothing is written, not even a snapshot. */
export const stateOf = async (log: EventLog, trust: Trust): Promise<State> =>
  (await catchUp(log, await recall(log, trust), { trust })).state

/** The events that were written; a refusal is a failure. */
export const execute = async (engine: Engine, command: EngineCommand): Promise<readonly Stamped[]> => {
  const outcome = await engine.execute(command)
  if (outcome.status === 'refused') throw failureOf(outcome.refusal)
  return outcome.events
}

/**
 * Stores the events of a command, then the access record of the command line. The command is tried on the current state
 * first: a refused one writes nothing, not even this node's key, unless the kill switch refused it.
 */
export const write = (
  invocation: Invocation,
  name: string,
  command: EngineCommand,
): Promise<readonly Stamped[]> => writeAs(invocation, name, () => command)

/** The same for commands that name their operator: the node of this home. */
export const writeAs = async (
  invocation: Invocation,
  name: string,
  commandBy: (operator: string) => EngineCommand,
): Promise<readonly Stamped[]> => {
  const { dependencies } = invocation
  const rehearsal = await rehearsed(dependencies, commandBy('rehearsal'))
  if (rehearsal.status === 'refused') {
    const { code } = rehearsal.refusal
    if (code === 'kill_switch.active') {
      await withStore(dependencies, async (session) =>
        recordDenial(await session.openEngine(), invocation, name, code.replace('.', '_')),
      )
    }
    const { refusal } = rehearsal
    throw failureOf(await withLog(dependencies, (log) => knownRefusal(log, refusal), refusal))
  }
  return withStore(dependencies, async (session) => {
    const engine = await session.openEngine()
    const events = await execute(engine, commandBy(engine.nodeId))
    await recordWrite(engine, invocation, name)
    return events
  })
}

const rehearsed = async (dependencies: CommandDependencies, command: EngineCommand): Promise<RunResult> => {
  const { clock, version } = dependencies
  const configuration = (await openConfiguration(dependencies)).current()
  return rehearse({ fresh: () => readState(dependencies) }, command, { clock, configuration, version })
}

/** Validates with the schema that every surface uses; a violation is a usage error here. */
export const parsedBy = <Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> => {
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data
  throw new UsageError(faultsOf(parsed.error, [''], { input }).map(sentenceOf).join('; '))
}

/** Every write through the command line is recorded under its name, after its effect. */
export const recordWrite = (
  engine: Engine,
  invocation: Pick<Invocation, 'requestId'>,
  command: string,
): Promise<void> => recordAccess(engine, invocation, command, null)

/** What the kill switch forbids is recorded, too. */
export const recordDenial = (
  engine: Engine,
  invocation: Pick<Invocation, 'requestId'>,
  command: string,
  reason: string,
): Promise<void> => recordAccess(engine, invocation, command, reason)

const recordAccess = async (
  engine: Engine,
  { requestId }: Pick<Invocation, 'requestId'>,
  command: string,
  denial: string | null,
): Promise<void> => {
  await execute(engine, {
    kind: 'record-access',
    surface: 'cli',
    entry: {
      resource: `cli:${command}`,
      action: 'write',
      outcome: denial === null ? 'allowed' : 'denied',
      reason: denial,
      request_id: requestId,
    },
  })
}

/** Records a write that went into a file, after the commands that follow from it. */
export type RecordInLog = (command: string, ...alongside: readonly EngineCommand[]) => Promise<void>

/**
 * For writes that go into files. The store is opened first, so that a write that could not be recorded is not made.
 * Without a store there is nothing to record in.
 */
export const recordingInLog = async <Result>(
  invocation: Invocation,
  change: (record: RecordInLog) => Promise<Result>,
): Promise<Result> => {
  const session = await invocation.dependencies.openExistingStore()
  if (session === null) return change(async () => undefined)
  return closing(session, () =>
    change(async (command, ...alongside) => {
      const engine = await session.openEngine()
      for (const engineCommand of alongside) await execute(engine, engineCommand)
      await recordWrite(engine, invocation, command)
    }),
  )
}

const closing = async <Result>(
  session: StoreSession,
  use: (session: StoreSession) => Promise<Result>,
): Promise<Result> => {
  try {
    return await use(session)
  } finally {
    await session.close()
  }
}
