import type { Command as EngineCommand } from '../../core/decide.ts'
import type { Engine } from '../../engine/engine.ts'
import { catchUp, recall } from '../../engine/memory.ts'
import type { LogRecord, Stamped } from '../../core/log/event.ts'
import { INITIAL_STATE, type State } from '../../core/state.ts'
import type { EventLog, LogQuery } from '../../ports/event-log.ts'
import type { Bench } from './command.ts'
import { Failure, failureOf } from './failure.ts'
import type { StoreSession, CommandDependencies } from './dependencies.ts'

/** Uses the store of this home, which must be there. */
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

/** Uses the store of this home, which is created if it is not there. */
export const withStore = async <Result>(
  dependencies: CommandDependencies,
  use: (session: StoreSession) => Promise<Result>,
): Promise<Result> => closing(await dependencies.openStore(), use)

/** What the log of this home says now; where there is none, nothing is known and nothing is created. */
export const readState = async (dependencies: CommandDependencies): Promise<State> => {
  const session = await dependencies.openExistingStore()
  return session === null ? INITIAL_STATE : closing(session, ({ log }) => stateOf(log))
}

/** Stored events; none where nothing was ever stored. */
export const readStored = (
  dependencies: CommandDependencies,
  query: LogQuery,
): Promise<readonly LogRecord[]> => withLog(dependencies, (log) => log.read(query), [])

/** An answer from the log of this home, or the one that holds where nothing was ever stored. */
export const withLog = async <Answer>(
  dependencies: CommandDependencies,
  ask: (log: EventLog) => Promise<Answer>,
  otherwise: Answer,
): Promise<Answer> => {
  const session = await dependencies.openExistingStore()
  return session === null ? otherwise : closing(session, ({ log }) => ask(log))
}

/** What the log says now. Nothing is written, not even a snapshot. */
export const stateOf = async (log: EventLog): Promise<State> => (await catchUp(log, await recall(log))).state

/** The events that were written; a refusal is a failure. */
export const execute = async (engine: Engine, command: EngineCommand): Promise<readonly Stamped[]> => {
  const outcome = await engine.execute(command)
  if (outcome.status === 'refused') throw failureOf(outcome.refusal)
  return outcome.events
}

/** Every write through the command line leaves its name in the log, after its effect. */
export const recordWrite = (
  engine: Engine,
  bench: Pick<Bench, 'requestId'>,
  command: string,
): Promise<void> => recordAccess(engine, bench, command, null)

/** What the kill switch forbids leaves its name in the log, too. */
export const recordDenial = (
  engine: Engine,
  bench: Pick<Bench, 'requestId'>,
  command: string,
  reason: string,
): Promise<void> => recordAccess(engine, bench, command, reason)

const recordAccess = async (
  engine: Engine,
  { requestId }: Pick<Bench, 'requestId'>,
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

/** Tells the log of a write that went into a file, together with what else follows from it. */
export type RecordInLog = (command: string, ...alongside: readonly EngineCommand[]) => Promise<void>

/**
 * For writes that go into files. The store is opened before, so that a write that could not be recorded is not made.
 * Without a store there is no log that could tell.
 */
export const recordingInLog = async <Result>(
  bench: Bench,
  write: (record: RecordInLog) => Promise<Result>,
): Promise<Result> => {
  const session = await bench.dependencies.openExistingStore()
  if (session === null) return write(async () => undefined)
  return closing(session, () =>
    write(async (command, ...alongside) => {
      const engine = await session.openEngine()
      for (const engineCommand of alongside) await execute(engine, engineCommand)
      await recordWrite(engine, bench, command)
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
