import { timestampAt } from '../src/core/shared/time.ts'
import { timestampOf, type Timestamp } from '../src/core/shared/brand.ts'
import { hash } from 'node:crypto'
import { uuidv7 } from 'uuidv7'
import { EMPTY_HEAD, headOf, type Head, type LogRecord, type Stamped } from '../src/core/log/event.ts'
import { chain, hashOf } from '../src/core/log/hash-chain.ts'
import type { EventLog } from '../src/ports/event-log.ts'

/** Members of an event. Members that are left out have the same values in all tests. */
export type Said = Partial<
  Omit<Stamped, 'seq' | 'ts' | 'recordedAt'> & { readonly ts: string; readonly recordedAt: string }
>

/** A signature of the right form, for tests that do not verify signatures. */
const SIGNATURE = 'a1'.repeat(64)

export const sha256Hex = (text: string): string => hash('sha256', text, 'hex')

/** Events after a head as the engine would store them, each a millisecond after the previous one. */
export const recordsAfter = (
  head: Head,
  count: number,
  say: (seq: number) => Said = () => ({}),
): readonly LogRecord[] => {
  const stamped = Array.from({ length: count }, (_, index) => stamp(head.seq + 1 + index, say))
  return chain(stamped, head, sha256Hex).map((record, index) => ({
    ...record,
    signature: SIGNATURE,
    signer: 'svc-0123456789abcdef',
    batchSignature: index === count - 1 ? `${count}:${SIGNATURE}` : null,
    // Stands for the commands of the batch. A store keeps the text and does not read it.
    commands: index === count - 1 ? `{"events":${count},"note":"Größe \\u0000"}` : null,
  }))
}

/** Appends after the current head, and returns the stored records. */
export const appendTo = async (
  log: EventLog,
  count: number,
  say?: (seq: number) => Said,
): Promise<readonly LogRecord[]> => {
  const records: LogRecord[] = []
  let head = await log.head()
  while (records.length < count) {
    const batch = recordsAfter(head, Math.min(BATCH, count - records.length), say)
    const { status } = await log.append(batch, head)
    if (status !== 'appended') throw new Error(status)
    for (const record of batch) records.push(record)
    head = headAfter(batch)
  }
  return records
}

export const headAfter = (records: readonly LogRecord[], before: Head = EMPTY_HEAD): Head => {
  const last = records.at(-1)
  return last === undefined ? before : headOf(last)
}

/** A record with its hash recomputed, as an attacker who knows the rule of the chain would do. */
export const rehashed = (record: LogRecord): LogRecord => ({
  ...record,
  hash: hashOf(record.prevHash, record, sha256Hex),
})

/** Events with every value that is allowed and rare, one after the other. */
export const oddEvent = (seq: number): Said => {
  switch (seq % 4) {
    case 0:
      return { type: 'single', payload: {} }
    case 1:
      return {
        payload: {
          text: 'Größe | €😀\u2028\u007f "\\\n\u0001\u001f',
          nested: { deep: [1, null, true, { a: 'b|c' }] },
        },
      }
    case 2:
      return {
        source: 'quelle größer',
        traceId: 'spur-€',
        dedupeKey: `schlüssel 😀 ${seq}`,
        id: `an id with blanks ${seq}`,
      }
    default:
      return { ts: '9999-12-31T23:59:59.999Z', payload: { big: 1e21, none: null, small: 1e-7 } }
  }
}

/** Milliseconds since the first day of 2026. */
export const timeAt = (ms: number): Timestamp => timestampAt(Date.UTC(2026, 0, 1) + ms)

const BATCH = 1000

const stamp = (seq: number, say: (seq: number) => Said): Stamped => {
  const { ts, recordedAt, ...said } = say(seq)
  return {
    seq,
    id: uuidv7(),
    type: 'signal.test.v1',
    source: 'test',
    traceId: null,
    dedupeKey: null,
    payload: { number: seq },
    ...said,
    ts: ts === undefined ? timeAt(seq) : timestampOf(ts),
    recordedAt: recordedAt === undefined ? timeAt(seq) : timestampOf(recordedAt),
  }
}
