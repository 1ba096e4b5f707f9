import type { LogRecord } from './event.ts'
import type { Sha256Hex } from './hash-chain.ts'

/**
 * Events that were stored together. Their signature covers their place in the log, so it is not valid for a copy
 * elsewhere.
 */
export interface Batch {
  /** Records in log order, at least one. */
  readonly records: readonly LogRecord[]
  /** Text that the signature covers; see `batchText`. */
  readonly text: string
  /** 128 hex digits, if the stored text has the right form. */
  readonly signature: string
  readonly signer: string
}

/**
 * The signature of a payload does not cover the place of the event, so it could be copied. This text covers the place:
 * the numbers of the events, the hash of the last one, which covers all before it, and the time of recording. It begins
 * with the hash of the stored commands, if the batch has any.
 */
export const batchText = (
  records: readonly Pick<LogRecord, 'seq' | 'hash' | 'recordedAt'>[],
  commands: string | null,
  sha256Hex: Sha256Hex,
): string => {
  const first = records[0]
  const last = records.at(-1)
  if (first === undefined || last === undefined) throw new Error('a batch has an event')
  const place = `batch|${first.seq}|${last.seq}|${last.hash}|${last.recordedAt}`
  return commands === null ? place : `commands|${sha256Hex(commands)}|${place}`
}

/** The signature as it is stored with the last event of the batch: `<number of events>:<128 hex digits>`. */
export const batchSignatureOf = (events: number, signature: string): string => `${events}:${signature}`

/** A batch, or events outside of any batch: no key that may write to this log has signed their place. */
export type Stretch =
  | { readonly kind: 'batch'; readonly batch: Batch }
  | { readonly kind: 'loose'; readonly records: readonly LogRecord[] }

/** Cuts records, in order, into their batches. `add` holds records back until it sees the end of their batch. */
export class BatchCutter {
  readonly #sha256Hex: Sha256Hex
  #pending: LogRecord[] = []

  constructor(sha256Hex: Sha256Hex) {
    this.#sha256Hex = sha256Hex
  }

  add(record: LogRecord): readonly Stretch[] {
    this.#pending.push(record)
    if (record.batchSignature === null) return this.#pending.length < EVENTS_MAX ? [] : this.end()
    const pending = this.#pending
    this.#pending = []
    const batch = batchEndingWith(pending, record.batchSignature, this.#sha256Hex)
    if (batch === null) return [{ kind: 'loose', records: pending }]
    const loose = pending.slice(0, pending.length - batch.records.length)
    return [...looseOf(loose), { kind: 'batch', batch }]
  }

  /** At the end of the log: events without the end of their batch. */
  end(): readonly Stretch[] {
    const pending = this.#pending
    this.#pending = []
    return looseOf(pending)
  }
}

const looseOf = (records: readonly LogRecord[]): readonly Stretch[] =>
  records.length === 0 ? [] : [{ kind: 'loose', records }]

/**
 * More events than a process ever stores at once. Records beyond this count are returned as loose instead of held back.
 */
const EVENTS_MAX = 100_000

const STORED = /^([1-9][0-9]{0,5}):([0-9a-f]{128})$/

/**
 * Null unless the last of these records are one batch: by one signer, recorded at one time, with commands on the last
 * event only.
 */
const batchEndingWith = (
  records: readonly LogRecord[],
  stored: string,
  sha256Hex: Sha256Hex,
): Batch | null => {
  const [, count, signature] = STORED.exec(stored) ?? []
  const size = Number(count)
  if (signature === undefined || size > records.length) return null
  const own = records.slice(records.length - size)
  const last = own.at(-1)
  if (last === undefined || last.signer === null) return null
  const { signer, recordedAt } = last
  if (own.some((record) => record.signer !== signer || record.recordedAt !== recordedAt)) return null
  if (own.some((record) => record !== last && record.commands !== null)) return null
  return { records: own, text: batchText(own, last.commands, sha256Hex), signature, signer }
}
