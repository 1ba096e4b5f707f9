import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { EXIT_FAILED, EXIT_OK, Failure, UsageError } from '../failure.ts'
import type { Trust } from '../../../engine/integrity/trust.ts'
import type { EventLog } from '../../../ports/event-log.ts'
import { NOTHING_FOLDED, refold, type Refold } from '../refold.ts'
import { withLog } from '../store.ts'
import { bad, fields, good, left, paragraphs, table } from '../table.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Rebuilds all of memory from the first event and compares it with what the service recalls from its newest ' +
        'snapshot. Nothing is written. The state hash is the same on every machine that holds the same events.',
    )
    .option('--from <id>', 'count from this event')
    .option('--to <id>', 'count, and take the state hash, up to this event')
    .examples('svc replay', 'svc replay --to 019c7874-0f70-7c3e-9a51-2f6f0c1b7a10 --json')
    .runs(replayStore)
}

interface Replayed extends Refold {
  readonly eventsReplayed: number
  readonly elapsedSeconds: number
}

const NOTHING_REPLAYED: Replayed = { ...NOTHING_FOLDED, eventsReplayed: 0, elapsedSeconds: 0 }

const replayStore = async (
  invocation: Invocation,
  { from, to }: { readonly from?: string; readonly to?: string },
): Promise<Answer> => {
  const { clock, progress } = invocation
  const replay = async (log: EventLog, trust: Trust): Promise<Replayed> => {
    const fromSeq = await seqOf(log, from)
    const toSeq = await seqOf(log, to)
    if (fromSeq !== null && toSeq !== null && fromSeq > toSeq) throw new UsageError('--from comes after --to')
    const startedAtMs = clock.now()
    const bar = progress('replaying')
    const result = await refold(log, trust, { hashAtSeq: toSeq, onProgress: bar.update }).finally(bar.end)
    const eventsReplayed = (toSeq ?? result.seq) - (fromSeq ?? 1) + 1
    return { ...result, eventsReplayed, elapsedSeconds: (clock.now() - startedAtMs) / 1000 }
  }
  const replayed = await withLog(invocation, replay, NOTHING_REPLAYED)
  const { eventsReplayed, elapsedSeconds, projections, identical, stateHash } = replayed
  const text = paragraphs(
    fields([
      ['Replay', identical ? good('identical') : bad('different from what the service recalls')],
      ['Events', `${eventsReplayed} in ${elapsedSeconds} s`],
      ['State hash', stateHash],
    ]),
    table(Object.entries(projections), [
      left('Memory', ([name]) => name),
      left('Verdict', ([, verdict]) => (verdict === 'identical' ? good(verdict) : bad(verdict))),
    ]),
  )
  const document = {
    events_replayed: eventsReplayed,
    elapsed_seconds: elapsedSeconds,
    projections,
    identical,
    state_hash: stateHash,
  }
  return { document, text, exitCode: identical ? EXIT_OK : EXIT_FAILED }
}

const seqOf = async (log: EventLog, id: string | undefined): Promise<number | null> => {
  if (id === undefined) return null
  const record = await log.get(id)
  if (record !== null) return record.seq
  throw new Failure('event.not_found', `no event has the id ${id}`, { extras: { event_id: id } })
}
