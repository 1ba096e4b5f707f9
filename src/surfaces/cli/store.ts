import type { z } from 'zod'
import type { Command as EngineCommand } from '../../core/decide.ts'
import type { Stamped } from '../../core/log/event.ts'
import { faultsOf, sentenceOf } from '../../core/shared/faults.ts'
import { INITIAL_STATE, type State } from '../../core/state.ts'
import { believedLog } from '../../engine/believed-log.ts'
import type { Engine } from '../../engine/engine.ts'
import { catchUp, recall } from '../../engine/memory.ts'
import { knownRefusal } from '../../engine/queries/trading-records.ts'
import { rehearse } from '../../engine/queries/views.ts'
import type { Trust } from '../../engine/integrity/trust.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Invocation } from './command.ts'
import { settingsOf } from './configuration.ts'
import type { Present, StoreSession } from './dependencies.ts'
import { Failure, failureOf, UsageError } from './failure.ts'

/** The store of this home, which must exist. */
export const openExisting = async ({ openExistingStore, home }: Invocation): Promise<StoreSession> => {
  const session = await openExistingStore()
  if (session !== null) return session
  throw new Failure('store.missing', `there is no event store in ${home} yet`, {
    advice: 'Start the service once with "svc up", or name another folder with --home.',
  })
}

/** Reads the log of this home; without a store the result is `otherwise`, and nothing is created. */
export const withLog = async <Result>(
  { openExistingStore }: Invocation,
  read: (log: EventLog, trust: Trust, session: StoreSession) => Promise<Result>,
  otherwise: Result,
): Promise<Result> => {
  await using session = await openExistingStore()
  return session === null ? otherwise : await read(session.log, session.trust, session)
}

/** Reads the verified log: events that no authorized node has signed are left out. */
export const withBelievedLog = <Result>(
  invocation: Invocation,
  read: (log: EventLog) => Promise<Result>,
  otherwise: Result,
): Promise<Result> =>
  withLog(invocation, async (log, trust) => read((await believedBy(log, trust)).log), otherwise)

/** The state, and the log without the events that no authorized node has signed. */
export const believedBy = async (
  log: EventLog,
  trust: Trust,
): Promise<{ readonly state: State; readonly log: EventLog; readonly fresh: () => Promise<State> }> => {
  const fresh = (): Promise<State> => stateOf(log, trust)
  const state = await fresh()
  return { state, log: believedLog(log, { state, fresh }), fresh }
}

export const readState = (invocation: Invocation): Promise<State> =>
  withLog(invocation, stateOf, INITIAL_STATE)

/** The state, and the clock and settings of decisions on it. */
export const readPresent = async (invocation: Invocation): Promise<Present & { readonly state: State }> =>
  withLog(
    invocation,
    async (log, trust, session) => ({ ...(await session.present()), state: await stateOf(log, trust) }),
    {
      clock: invocation.clock,
      configuration: await settingsOf(invocation),
      state: INITIAL_STATE,
    },
  )

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
 * Stores the events of a command of this home's node, then the access record of the command line. The command is tried
 * on the current state first: a refused one writes nothing, not even this node's key, unless the kill switch refused it.
 */
export const write = async (
  invocation: Invocation,
  name: string,
  commandBy: (operator: string) => EngineCommand,
): Promise<readonly Stamped[]> => {
  const { version } = invocation
  const { clock, configuration } = await readPresent(invocation)
  const fresh = (): Promise<State> => readState(invocation)
  const rehearsal = await rehearse({ fresh }, commandBy('rehearsal'), { clock, configuration, version })
  if (rehearsal.status === 'refused') {
    const { refusal } = rehearsal
    if (refusal.code === 'kill_switch.active') {
      await using session = await invocation.openStore()
      await recordAccess(await session.openEngine(), invocation, name, 'kill_switch_active')
    }
    throw failureOf(await withBelievedLog(invocation, (log) => knownRefusal(log, refusal), refusal))
  }
  await using session = await invocation.openStore()
  const engine = await session.openEngine()
  const events = await execute(engine, commandBy(engine.nodeId))
  await recordAccess(engine, invocation, name)
  return events
}

/** Validates with the schema that every surface uses; a violation is a usage error here. */
export const parsedBy = <Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> => {
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data
  throw new UsageError(faultsOf(parsed.error, [''], { input }).map(sentenceOf).join('; '))
}

/** Every write through the command line is recorded after its effect, and so is what the kill switch forbids. */
export const recordAccess = async (
  engine: Engine,
  { requestId }: Pick<Invocation, 'requestId'>,
  command: string,
  denial: string | null = null,
): Promise<void> => {
  await execute(engine, accessCommand({ requestId }, command, denial))
}

export const accessCommand = (
  { requestId }: Pick<Invocation, 'requestId'>,
  command: string,
  denial: string | null = null,
): EngineCommand => ({
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
  await using session = await invocation.openExistingStore()
  return await change(async (command, ...alongside) => {
    if (session === null) return
    const engine = await session.openEngine()
    for (const engineCommand of alongside) await execute(engine, engineCommand)
    await recordAccess(engine, invocation, command)
  })
}
