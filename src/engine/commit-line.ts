import type { Head, LogRecord } from '../core/log/event.ts'
import { batchSignatureOf, batchText } from '../core/log/batch.ts'
import type { ChainedRecord } from '../core/log/hash-chain.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { Signer } from '../ports/signer.ts'

export type Stored =
  | { readonly status: 'appended'; readonly records: readonly LogRecord[] }
  | { readonly status: 'head-moved' | 'fenced' }
  | { readonly status: 'failed'; readonly error: unknown }

/**
 * Signs batches and sends them to the log in the order they were decided. Signing starts at once and a batch is
 * sent while the one before it is still being stored; results come back in order.
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
    records: readonly ChainedRecord[],
    expected: Head,
    leaderToken: number | null = null,
  ): Promise<Stored> {
    const before = this.#lastStored
    const call = this.#call(this.#lastCall, this.#sign(records), expected, leaderToken)
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
    // Awaited in this order so that a failed signature is seen, but only after the batch before was sent.
    const [records] = await Promise.all([signed, lastCall])
    // Wrapped, so that waiting for the call does not wait for its result.
    return {
      records,
      appended: records.length === 0 ? NOTHING_TO_STORE : this.#log.append(records, expected, leaderToken),
    }
  }

  async #sign(records: readonly ChainedRecord[]): Promise<readonly LogRecord[]> {
    if (records.length === 0) return []
    const texts = [...records.map(({ payload }) => payload), batchText(records)]
    const signatures = await this.#signer.signAll(texts)
    const signer = this.#signer.nodeId
    const last = records.length - 1
    const batchSignature = batchSignatureOf(records.length, signatures[records.length] ?? '')
    return records.map((record, index) =>
      signed(record, signatures[index] ?? null, signer, index === last ? batchSignature : null),
    )
  }
}

/** Written out: spreading a record into a new one costs several times as much. */
const signed = (
  record: ChainedRecord,
  signature: string | null,
  signer: string,
  batchSignature: string | null,
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
})

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
