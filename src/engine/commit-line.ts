import type { Head, LogRecord } from '../core/log/event.ts'
import { batchSignatureOf, batchText } from '../core/log/batch.ts'
import type { ChainedRecord } from '../core/log/hash-chain.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { Signer } from '../ports/signer.ts'
import type { EngineLimits } from './command-queue.ts'
import { sha256Hex } from './sha256.ts'
import { answer, type Caller, type Plan, type Request } from './plan.ts'

export type Stored =
  | { readonly status: 'appended'; readonly records: readonly LogRecord[] }
  | { readonly status: 'head-moved' | 'fenced' }
  | { readonly status: 'failed'; readonly error: unknown }

/**
 * Signs batches and sends them to the log in the order in which they were decided. Signing starts at once, and a batch
 * is sent while the one before it is still being stored. Results come back in order.
 */
export class CommitLine {
  readonly #log: EventLog
  readonly #signer: Signer
  #lastCall: Promise<unknown> = Promise.resolve()
  #lastStored: Promise<unknown> = Promise.resolve()

  constructor(log: EventLog, signer: Signer) {
    this.#log = log
    this.#signer = signer
  }

  /** Never rejects: an error is a result, so that a later batch cannot overtake it. */
  store(
    { records, commands }: Pick<Plan, 'records' | 'commands'>,
    expected: Head,
    leaderToken: number | null = null,
  ): Promise<Stored> {
    const before = this.#lastStored
    const call = this.#call(this.#lastCall, this.#sign(records, commands), expected, leaderToken)
    const stored = outcomeOf(call).then(async (outcome) => {
      await before
      return outcome
    })
    this.#lastCall = call.catch(() => undefined)
    this.#lastStored = stored
    return stored
  }

  async #call(
    lastCall: Promise<unknown>,
    signed: Promise<readonly LogRecord[]>,
    expected: Head,
    leaderToken: number | null,
  ): Promise<Call> {
    // Awaited in this order, so that a failed signature is noticed only after the previous batch was sent.
    const [records] = await Promise.all([signed, lastCall])
    // Wrapped, so that awaiting the call does not await its result.
    return {
      records,
      appended: records.length === 0 ? NOTHING_TO_STORE : this.#log.append(records, expected, leaderToken),
    }
  }

  async #sign(records: readonly ChainedRecord[], commands: string | null): Promise<readonly LogRecord[]> {
    if (records.length === 0) return []
    const texts = [...records.map(({ payload }) => payload), batchText(records, commands, sha256Hex)]
    const signatures = await this.#signer.signAll(texts)
    const signer = this.#signer.nodeId
    const last = records.length - 1
    const batchSignature = batchSignatureOf(records.length, signatures[records.length] ?? '')
    return records.map((record, index) => {
      const ofBatch = index === last ? { batchSignature, commands } : NO_END
      return signed(record, signatures[index] ?? null, signer, ofBatch)
    })
  }
}

/** Spelled out, because spreading a record costs several times as much. */
const signed = (
  record: ChainedRecord,
  signature: string | null,
  signer: string,
  { batchSignature, commands }: Pick<LogRecord, 'batchSignature' | 'commands'>,
): LogRecord => ({
  seq: record.seq,
  id: record.id,
  type: record.type,
  ts: record.ts,
  schemaVersion: record.schemaVersion,
  source: record.source,
  traceId: record.traceId,
  dedupeKey: record.dedupeKey,
  payload: record.payload,
  prevHash: record.prevHash,
  hash: record.hash,
  signature,
  signer,
  recordedAt: record.recordedAt,
  batchSignature,
  commands,
})

/** Columns of an event that does not end its batch. */
const NO_END = { batchSignature: null, commands: null }

interface Call {
  readonly records: readonly LogRecord[]
  readonly appended: ReturnType<EventLog['append']>
}

const NOTHING_TO_STORE = Promise.resolve({ status: 'appended' } as const)

const outcomeOf = async (call: Promise<Call>): Promise<Stored> => {
  try {
    const { records, appended } = await call
    const { status } = await appended
    return status === 'appended' ? { status, records } : { status }
  } catch (error) {
    return { status: 'failed', error }
  }
}

/** A command with its waiting caller. */
export type Waiting = Request & Caller

/** Commands that are stored together. */
export interface Batch {
  readonly waiting: readonly Waiting[]
  readonly planned: Plan
  readonly settled: Promise<void>
}

/**
 * Token under which a batch with a command of the leader is stored. If a process has commands of two of its leases, the
 * older token counts: that lease has ended, so its commands fail and the others are decided again.
 */
export const tokenOf = (waiting: readonly Waiting[]): number | null => {
  const tokens = waiting.flatMap(({ leaderToken }) => leaderToken ?? [])
  return tokens.length === 0 ? null : Math.min(...tokens)
}

export const answerAll = ({ waiting, planned }: Batch): void => {
  for (const [index, caller] of waiting.entries()) answer(caller, planned.answers[index])
}

/**
 * Size of the next batch, as a share of all commands including those in flight. Clients send their next command after
 * an answer, so batches of equal size keep the pipeline full: while one is stored, another is signed and a third is
 * decided.
 */
export const batchSizeOf = (
  queued: number,
  inFlight: readonly Batch[],
  { batchMax, batchMin, inFlightMax }: EngineLimits,
): number => {
  const waiting = inFlight.reduce((sum, batch) => sum + batch.waiting.length, queued)
  return Math.min(batchMax, Math.max(batchMin, Math.ceil(waiting / Math.max(1, inFlightMax - 1))))
}
