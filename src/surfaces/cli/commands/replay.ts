import type { EventLog } from '../../../ports/event-log.ts'
import { examples, type Invocation, type DefineCommand } from '../command.ts'
import type { StoreSession } from '../dependencies.ts'
import { EXIT_FAILED, EXIT_OK, Failure, UsageError, type ExitCode } from '../failure.ts'
import { NOTHING_FOLDED, refold, type Refold } from '../refold.ts'
import { bad, fields, good, table, type Cell } from '../table.ts'

export const define: DefineCommand = (command, run) => {
  command
    .description(
      'Rebuilds all of memory from the first event and compares it with what the service recalls from its newest ' +
        'snapshot. Nothing is written. The state hash is the same on every machine that holds the same events.',
    )
    .option('--from <id>', 'count from this event')
    .option('--to <id>', 'count, and take the state hash, up to this event')
    .addHelpText(
      'after',
      examples('svc replay', 'svc replay --to 019c7874-0f70-7c3e-9a51-2f6f0c1b7a10 --json'),
    )
    .action(run(replayStore))
}

interface ReplayOptions {
  readonly from?: string
  readonly to?: string
}

const replayStore = async (invocation: Invocation, options: ReplayOptions): Promise<ExitCode> => {
  const session = await invocation.dependencies.openExistingStore()
  if (session === null)
    return show(invocation, { eventsReplayed: 0, elapsedSeconds: 0, result: NOTHING_FOLDED })
  try {
    return await show(invocation, await replayLog(invocation, session, options))
  } finally {
    await session.close()
  }
}

const replayLog = async (
  invocation: Invocation,
  { log, trust }: StoreSession,
  options: ReplayOptions,
): Promise<Replayed> => {
  const { clock } = invocation.dependencies
  const fromSeq = await seqOf(log, options.from)
  const toSeq = await seqOf(log, options.to)
  if (fromSeq !== null && toSeq !== null && fromSeq > toSeq) throw new UsageError('--from comes after --to')
  const startedAtMs = clock.now()
  const progress = invocation.progress('replaying')
  const refoldOptions = { hashAtSeq: toSeq, onProgress: progress.update }
  const result = await refold(log, await trust(), refoldOptions).finally(progress.end)
  return {
    eventsReplayed: (toSeq ?? result.seq) - (fromSeq ?? 1) + 1,
    elapsedSeconds: (clock.now() - startedAtMs) / 1000,
    result,
  }
}

const seqOf = async (log: EventLog, id: string | undefined): Promise<number | null> => {
  if (id === undefined) return null
  const record = await log.get(id)
  if (record === null)
    throw new Failure('event.not_found', `no event has the id ${id}`, { extras: { event_id: id } })
  return record.seq
}

interface Replayed {
  readonly eventsReplayed: number
  readonly elapsedSeconds: number
  readonly result: Refold
}

const show = async (
  { print }: Invocation,
  { eventsReplayed, elapsedSeconds, result }: Replayed,
): Promise<ExitCode> => {
  const { identical, projections, stateHash } = result
  const document = {
    events_replayed: eventsReplayed,
    elapsed_seconds: elapsedSeconds,
    projections,
    identical,
    state_hash: stateHash,
  }
  await print.result(document, (style) => {
    const summary = fields(
      [
        ['Replay', identical ? good('identical') : bad('different from what the service recalls')],
        ['Events', `${eventsReplayed} in ${elapsedSeconds} s`],
        ['State hash', stateHash],
      ],
      style,
    )
    return `${summary}\n${table([{ title: 'Memory' }, { title: 'Verdict' }], verdictRows(projections), style)}`
  })
  return identical ? EXIT_OK : EXIT_FAILED
}

const verdictRows = (projections: Refold['projections']): readonly (readonly Cell[])[] =>
  Object.entries(projections).map(([name, verdict]) => [
    name,
    verdict === 'identical' ? good(verdict) : bad(verdict),
  ])
