import { timestampAt } from '../../src/core/shared/time.ts'
import { type Timestamp, nodeId } from '../../src/core/shared/brand.ts'
import { createPrivateKey, createPublicKey, hash, sign } from 'node:crypto'
import { EMPTY_HEAD, headOf, type Head, type LogRecord, type Stamped } from '../../src/core/log/event.ts'
import { batchSignatureOf, batchText } from '../../src/core/log/batch.ts'
import { chain, hashOf } from '../../src/core/log/hash-chain.ts'
import type { JsonObject } from '../../src/core/shared/json.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import type { Signer } from '../../src/ports/signer.ts'

const sha256Hex = (text: string): string => hash('sha256', text, 'hex')

/** Members of an event. The other columns follow from its position. */
export interface Said {
  readonly type: string
  readonly payload: JsonObject
  readonly source?: string
  readonly traceId?: string
  readonly dedupeKey?: string
}

/** A node whose key is the same in every run. */
export const nodeOf = (seedByte: number): Signer => {
  const seed = Buffer.alloc(32, seedByte)
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
  const publicKey = spki.subarray(-32).toString('hex')
  return {
    nodeId: nodeId(`svc-${publicKey.slice(0, 16)}`),
    publicKey,
    ephemeral: true,
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString('hex'),
    signAll: (texts) =>
      Promise.resolve(texts.map((text) => sign(null, Buffer.from(text), privateKey).toString('hex'))),
    close: () => Promise.resolve(),
  }
}

/** The event by which a node introduces its key. */
export const started = ({ nodeId: id, publicKey }: Signer): Said => ({
  type: 'system.started.v1',
  source: 'system',
  payload: {
    version: '0.0.0',
    node_id: id,
    public_key: publicKey,
    ephemeral: true,
    integrity: { ok: true, reason: null, first_bad_seq: null },
  },
})

export const note = (number: number): Said => ({
  type: 'signal.test.v1',
  payload: { number },
  source: 'test',
})

export const notes = (count: number, from = 1): readonly Said[] =>
  Array.from({ length: count }, (_, index) => note(from + index))

/** Events after a head as a writer would store them: chained, each a second later, signed by the node. */
export const recordsOf = async (
  said: readonly Said[],
  node: Signer,
  head: Head = EMPTY_HEAD,
): Promise<readonly LogRecord[]> => {
  const chained = chain(
    said.map((event, index) => stampedAt(head.seq + index + 1, event)),
    head,
    sha256Hex,
  )
  const payloads = await node.signAll(chained.map(({ payload }) => payload))
  const batches = await node.signAll(
    chained.map((record) => batchText([record], commandsOf(record), sha256Hex)),
  )
  return chained.map((record, index) => ({
    ...record,
    signature: payloads[index] ?? null,
    signer: node.nodeId,
    batchSignature: batchSignatureOf(1, batches[index] ?? ''),
    commands: commandsOf(record),
  }))
}

/** Stands for the commands of a batch. Verification compares the bytes and does not read them. */
const commandsOf = ({ seq }: Pick<Stamped, 'seq'>): string => `{"number":${seq}}`

/** Appends in pages of the size that the store accepts. */
export const fill = async (log: EventLog, records: readonly LogRecord[]): Promise<void> => {
  for (let from = 0; from < records.length; from += 500) {
    const { status } = await log.append(records.slice(from, from + 500), await log.head())
    if (status !== 'appended') throw new Error(status)
  }
}

export const appendSaid = async (log: EventLog, said: readonly Said[], node: Signer): Promise<void> =>
  fill(log, await recordsOf(said, node, await log.head()))

export const headAfter = (records: readonly LogRecord[]): Head => {
  const last = records.at(-1)
  return last === undefined ? EMPTY_HEAD : headOf(last)
}

/** Seconds since the first day of 2026. */
const timeAt = (second: number): Timestamp => timestampAt(Date.UTC(2026, 0, 1) + second * 1000)

const stampedAt = (seq: number, { type, payload, source, traceId, dedupeKey }: Said): Stamped => ({
  seq,
  id: idAt(seq),
  type,
  ts: timeAt(seq),
  source: source ?? null,
  traceId: traceId ?? null,
  dedupeKey: dedupeKey ?? null,
  payload,
  recordedAt: timeAt(seq),
})

/** A UUIDv7 that increases with its number. */
const idAt = (number: number): string => {
  const digits = number.toString(16).padStart(12, '0')
  return `019b7000-${digits.slice(0, 4)}-7000-8000-${digits}`
}

/** Recomputes all hashes, as an attacker who knows the rule of the chain would. */
export const rechained = (records: readonly LogRecord[], head: Head = EMPTY_HEAD): readonly LogRecord[] => {
  let { seq, hash: prevHash } = head
  return records.map((record) => {
    seq += 1
    const relinked = { ...record, seq, prevHash, hash: hashOf(prevHash, record, sha256Hex) }
    prevHash = relinked.hash
    return relinked
  })
}

/** Signs payloads and positions, each record as a batch of its own. Only the node itself can do this. */
export const resigned = async (
  records: readonly LogRecord[],
  node: Signer,
): Promise<readonly LogRecord[]> => {
  const payloads = await node.signAll(records.map(({ payload }) => payload))
  const batches = await node.signAll(records.map((record) => batchText([record], record.commands, sha256Hex)))
  return records.map((record, index) => ({
    ...record,
    signature: payloads[index] ?? null,
    batchSignature: batchSignatureOf(1, batches[index] ?? ''),
  }))
}
