import type { Command } from '../core/decide.ts'
import { configurationHash } from '../core/config/secrets.ts'
import { canonicalJson } from '../core/log/canonical-json.ts'
import { stampedFrom, type LogRecord, type Stamped } from '../core/log/event.ts'
import { chain, type ChainedRecord } from '../core/log/hash-chain.ts'
import type { DecisionContext } from '../core/shared/decision-context.ts'
import { run, type RunResult } from '../core/run.ts'
import {
  type BatchInputs,
  commandsText,
  configDigitsOf,
  idsOf,
  storedRequest,
  type StoredRequest,
} from '../core/stored-commands.ts'
import { stretchOf, UNSIGNED_TYPE } from '../core/operations/unsigned.ts'
import { formerKey } from '../core/signals/dedupe-keys.ts'
import type { State } from '../core/state.ts'
import type { Timestamp } from '../core/shared/brand.ts'
import type { Refusal } from '../core/shared/decision.ts'
import type { Memory } from './memory.ts'
import { sha256Hex } from './sha256.ts'

export interface Request {
  readonly command: Command
  readonly traceId: string | null
  /**
   * Recorded in the same batch if the command writes anything. The audit entry uses this and so needs no request of its own.
   */
  readonly alongside: Command | null
  /**
   * Token of the lease for which the command is made: it is stored only while no other process leads. Null for commands
   * of clients.
   */
  readonly leaderToken: number | null
  /**
   * Condition on the state on which the command is decided. If it is false, the command is refused with
   * `confirmation.stale`.
   */
  readonly expects?: ((state: State) => boolean) | undefined
}

export type ExecuteOptions = Partial<Omit<Request, 'command'>>

/** Executes commands: the engine on its log, or a backtest. */
export interface Executor {
  /** The fold of all executed commands. */
  readonly state: State
  /** Looks up events by their dedupe keys. */
  readonly log: {
    findByDedupeKeys(
      keys: readonly string[],
    ): Promise<ReadonlyMap<string, { readonly source: string | null }>>
  }
  /** A backtest answers at once: a promise per command would take it longer than most commands do. */
  execute(command: Command, options?: ExecuteOptions): Promise<Outcome> | Outcome
}

export type Outcome =
  /** `replayed`: the dedupe key was known. The events are those of the first time, and nothing was written. */
  | { readonly status: 'done'; readonly events: readonly Stamped[]; readonly replayed: boolean }
  | { readonly status: 'refused'; readonly refusal: Refusal }

/** A command whose decision threw fails alone, without the others of its batch. */
type Answer = Outcome | { readonly status: 'broken'; readonly error: unknown }

/** Callbacks of a caller that waits for an answer. */
export interface Caller {
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

export const answer = ({ resolve, reject }: Caller, given: Answer | undefined): void => {
  if (given === undefined) reject(new Error('a command was not answered'))
  else if (given.status === 'broken') reject(given.error)
  else resolve(given)
}

export interface Plan {
  /** One per request, in order; fewer if planning ended early. */
  readonly answers: readonly Answer[]
  readonly events: readonly Stamped[]
  readonly records: readonly ChainedRecord[]
  /** The commands that led to the events, as they are stored; null if there are no events. */
  readonly commands: string | null
  readonly after: Memory
}

/** Inputs of all decisions of a batch, beside state and command. */
export interface BatchContext extends Omit<DecisionContext, 'traceId' | 'newId'> {
  /** A UUIDv7, from which the ids of the batch are derived. */
  readonly seed: string
}

/** Events by their dedupe key: stored ones, and those of batches in flight. */
export type KnownKeys = ReadonlyMap<string, Stamped>

export const remember = (known: Map<string, Stamped>, event: Stamped): void => {
  if (event.dedupeKey !== null) known.set(event.dedupeKey, event)
}

/** Remembers a stored event. An unsigned one only blocks its key, because it never matches a repeated request. */
export const rememberStored = (
  known: Map<string, Stamped>,
  record: LogRecord,
  { operations }: State,
): void => {
  const event = stampedFrom(record)
  const isUnsigned = stretchOf(operations.unsigned, record.seq) !== undefined
  remember(known, isUnsigned ? { ...event, type: UNSIGNED_TYPE } : event)
}

export interface Turns {
  /** Number of requests that run before the event loop gets a turn. */
  readonly requestsMax: number
  /** Resolves after that turn. Returns whether to continue with the rest, of which this is the first request. */
  readonly next: (request: Request) => Promise<boolean>
}

/** Runs requests one after the other on the evolving state. Nothing is stored yet. */
export const plan = async (
  requests: readonly Request[],
  before: Memory,
  known: KnownKeys,
  context: BatchContext,
  turns: Turns,
): Promise<Plan> => {
  const answers: Answer[] = []
  const events: Stamped[] = []
  const records: ChainedRecord[] = []
  const stored: StoredRequest[] = []
  const keys = new Map(known)
  let { state, head } = before
  for (const [index, request] of requests.entries()) {
    const isTurnOver = index > 0 && index % turns.requestsMax === 0
    if (isTurnOver && !(await turns.next(request))) break
    const { expects } = request
    if (expects !== undefined && !expects(state)) {
      answers.push({ status: 'refused', refusal: STALE })
      continue
    }
    const newId = idsOf(context.seed, stored.length)
    const tried = tryRun(state, head.hash, request, { ...context, newId })
    if (tried.status !== 'accepted') {
      answers.push(tried)
      continue
    }
    const repeated = firstRepeated(tried.all, keys)
    if (repeated !== null) {
      answers.push(answerRepeated(repeated, context.now))
      continue
    }
    answers.push({ status: 'done', events: tried.events, replayed: false })
    state = tried.state
    if (tried.all.length > 0) stored.push(tried.stored)
    for (const event of tried.all) {
      events.push(event)
      remember(keys, event)
    }
    for (const record of tried.records) records.push(record)
    const last = tried.records.at(-1)
    if (last !== undefined) head = { seq: last.seq, hash: last.hash, recordedAt: last.recordedAt }
  }
  const commands = stored.length === 0 ? null : commandsText(inputsOf(context), stored)
  return { answers, events, records, commands, after: { state, head } }
}

const inputsOf = ({ seed, configuration, version, now, recordedAt }: BatchContext): BatchInputs => ({
  seed,
  config: configDigitsOf(configurationHash(configuration, sha256Hex)),
  version,
  ...(recordedAt === undefined || recordedAt === now ? {} : { now }),
})

const STALE: Refusal = {
  code: 'confirmation.stale',
  detail: 'what the caller was shown has changed since',
  extras: {},
}

type Tried =
  | Exclude<RequestResult, { status: 'accepted' }>
  | { readonly status: 'broken'; readonly error: unknown }
  | (Extract<RequestResult, { status: 'accepted' }> & {
      readonly records: readonly ChainedRecord[]
      readonly stored: StoredRequest
    })

const tryRun = (
  state: State,
  prevHash: string,
  { command, alongside, traceId }: Pick<Request, 'command' | 'alongside' | 'traceId'>,
  context: Omit<DecisionContext, 'traceId'>,
): Tried => {
  const elapsedMs: number[] = []
  try {
    const result = runRequest(
      state,
      { command, alongside },
      {
        ...context,
        traceId,
        elapsedMs: () => {
          elapsedMs.push(context.elapsedMs())
          return elapsedMs.at(-1) ?? 0
        },
      },
    )
    if (result.status === 'refused') return result
    const { all: events } = result
    return {
      ...result,
      records: chain(events, { hash: prevHash }, sha256Hex),
      stored: storedRequest({ command, alongside, traceId, elapsedMs, events }),
    }
  } catch (error) {
    return { status: 'broken', error }
  }
}

type RequestResult =
  | Exclude<RunResult, { status: 'accepted' }>
  /** `events`: those of the command itself. `all`: includes the events recorded alongside. */
  | (Extract<RunResult, { status: 'accepted' }> & { readonly all: readonly Stamped[] })

/** Runs a command, and the one alongside if the first one led to events. An audit runs stored commands again with this. */
export const runRequest = (
  before: State,
  { command, alongside }: Pick<Request, 'command' | 'alongside'>,
  context: DecisionContext,
): RequestResult => {
  const result = run(before, command, context)
  if (result.status === 'refused') return result
  const { status, events, state } = result
  if (alongside === null || events.length === 0) return { status, events, all: events, state }
  const second = run(state, alongside, context)
  if (second.status === 'refused') throw new Error(`${alongside.kind} alongside was refused`)
  return { status, events, all: [...events, ...second.events], state: second.state }
}

interface Repeated {
  readonly wanted: Stamped
  readonly stored: Stamped
}

const firstRepeated = (events: readonly Stamped[], keys: KnownKeys): Repeated | null => {
  for (const wanted of events) {
    if (wanted.dedupeKey === null) continue
    const stored = keys.get(wanted.dedupeKey) ?? formerlyStored(wanted, wanted.dedupeKey, keys)
    if (stored !== undefined) return { wanted, stored }
  }
  return null
}

/** The event under the key of an earlier version, if it has the same source. That key was not unique to one source. */
const formerlyStored = (wanted: Stamped, dedupeKey: string, keys: KnownKeys): Stamped | undefined => {
  const key = formerKey(dedupeKey)
  const stored = key === null ? undefined : keys.get(key)
  return stored?.source === wanted.source ? stored : undefined
}

/** A repeated event is answered with the stored one. Another event under the same key is refused. */
const answerRepeated = ({ wanted, stored }: Repeated, now: Timestamp): Outcome => {
  if (isSameEvent(wanted, stored, now)) return { status: 'done', events: [stored], replayed: true }
  return {
    status: 'refused',
    refusal: {
      code: 'idempotency.conflict',
      detail: 'this key was used before with another content',
      extras: { event_id: stored.id },
    },
  }
}

/** Whether both are the same event. One without its own `ts` has the time of receipt, which differs each time. */
const isSameEvent = (wanted: Stamped, stored: Stamped, now: Timestamp): boolean =>
  wanted.type === stored.type &&
  wanted.source === stored.source &&
  (wanted.ts === stored.ts || (wanted.ts === now && hasReceiptTime(stored, now))) &&
  canonicalJson(wanted.payload) === canonicalJson(stored.payload)

/**
 * In a log with a time from the future `recorded_at` does not advance, so any `ts` may have been the time of receipt.
 */
const hasReceiptTime = ({ ts, recordedAt }: Stamped, now: Timestamp): boolean =>
  ts === recordedAt || recordedAt > now
