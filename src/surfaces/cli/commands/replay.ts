import { canonicalJson } from '../../../core/log/canonical-json.ts'
import { encodeState } from '../../../core/state-codec.ts'
import { evolve, type State } from '../../../core/state.ts'
import type { JsonObject } from '../../../core/shared/json.ts'
import { catchUp, EMPTY_MEMORY, recall, stateHashOf, type Memory } from '../../../engine/memory.ts'
import type { Trust } from '../../../engine/integrity/trust.ts'
import type { EventLog } from '../../../ports/event-log.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { EXIT_FAILED, EXIT_OK, Failure, UsageError } from '../failure.ts'
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

interface Replayed extends Omit<Refold, 'seq'> {
  readonly eventsReplayed: number
  readonly elapsedSeconds: number
}

/** Result for a log that does not exist yet. */
const NOTHING_REPLAYED: Replayed = {
  identical: true,
  projections: {},
  stateHash: stateHashOf(EMPTY_MEMORY.state),
  eventsReplayed: 0,
  elapsedSeconds: 0,
}

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

/** Result of folding everything again from the first event, compared with the state that a start would load. */
interface Refold {
  /** Seq that both folds reached. */
  readonly seq: number
  readonly identical: boolean
  /** Result for every part of memory, by name. */
  readonly projections: Readonly<Record<string, 'identical' | 'different'>>
  /** Hash of the state at the requested place. */
  readonly stateHash: string
}

export const refold = async (
  log: EventLog,
  trust: Trust,
  {
    hashAtSeq,
    onProgress,
  }: {
    /** Seq at which the state hash is taken; null for the end. */
    readonly hashAtSeq: number | null
    readonly onProgress: (done: number, total: number) => void
  },
): Promise<Refold> => {
  const { seq: total } = await log.head()
  let before: State = EMPTY_MEMORY.state
  let wanted: State | null = null
  const folded = await catchUp(log, EMPTY_MEMORY, {
    trust,
    onPage: ({ memory, events }) => {
      if (hashAtSeq !== null && before.seq < hashAtSeq && hashAtSeq <= memory.head.seq) {
        wanted = events.filter(({ seq }) => seq <= hashAtSeq).reduce(evolve, before)
      }
      before = memory.state
      onProgress(memory.head.seq, total)
    },
  })
  const recalled = await catchUp(log, await recall(log, trust), { trust })
  const [full, live] = await atSamePlace(log, trust, folded, recalled)
  return {
    seq: full.head.seq,
    identical: stateHashOf(full.state) === stateHashOf(live.state),
    projections: compared(full.state, live.state),
    stateHash: stateHashOf(wanted ?? full.state),
  }
}

const ROUNDS_MAX = 1000

/** A running service may append meanwhile. The fold that is behind catches up until both have read the same events. */
const atSamePlace = async (
  log: EventLog,
  trust: Trust,
  first: Memory,
  second: Memory,
): Promise<readonly [Memory, Memory]> => {
  let [full, live] = [first, second]
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    if (full.head.seq === live.head.seq) return [full, live]
    if (full.head.seq < live.head.seq) full = await catchUp(log, full, { trust })
    else live = await catchUp(log, live, { trust })
  }
  throw new Failure('store.unavailable', 'the log grows too fast to compare two readings of it', {
    advice: 'Try again when the service is less busy.',
  })
}

const compared = (full: State, live: State): Readonly<Record<string, 'identical' | 'different'>> => {
  const [one, other] = [partsOf(full), partsOf(live)]
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  return Object.fromEntries(
    names.map((name) => [
      snakeCase(name),
      canonicalJson(one[name] ?? null) === canonicalJson(other[name] ?? null) ? 'identical' : 'different',
    ]),
  )
}

/** The members of every context, without the position of the fold, which is the same for both. */
const partsOf = (state: State): JsonObject => {
  const { seq: _seq, recordedAt: _recordedAt, ...contexts } = JSON.parse(encodeState(state)) as JsonObject
  return Object.assign({}, ...Object.values(contexts)) as JsonObject
}

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
