import { hash } from 'node:crypto'
import { checkpointText, signedNote } from '../src/core/log/checkpoint.ts'
import { timestampOf } from '../src/core/shared/brand.ts'
import { chain, hashOf, preimageOf } from '../src/core/log/hash-chain.ts'
import { EMPTY_FRONTIER, extendFrontier, leafOf, rootOf, type Sha256 } from '../src/core/log/merkle.ts'
import { inclusionProofText, verifierKeyText } from '../src/core/log/proof.ts'
import { EVENT_RECORD } from '../src/surfaces/http/examples.ts'
import { sha256Hex } from './records.fixture.ts'
import { auditPath, treeHash } from './rfc6962.fixture.ts'
import { testSigner } from './signer.fixture.ts'

const sha256: Sha256 = (bytes) => hash('sha256', bytes, 'buffer')
const signer = testSigner()

/** The example event of the documentation as the first of five, signed with the key of the tests. */
const example = {
  ...EVENT_RECORD,
  schemaVersion: EVENT_RECORD.schema_version,
  traceId: EVENT_RECORD.trace_id,
  dedupeKey: EVENT_RECORD.dedupe_key,
  payload: '{"conviction":7.5,"direction":"bullish","rationale":"Größe | ok","symbol":"BTC"}',
}

const later = chain(
  [2, 3, 4, 5].map((seq) => ({
    seq,
    id: `${String(seq).repeat(8)}-1111-4111-8111-111111111111`,
    type: 'signal.curator.v1',
    ts: timestampOf(`2026-02-20T00:29:59.00${seq}Z`),
    source: 'n1',
    traceId: null,
    dedupeKey: null,
    payload: { symbol: 'BTC' },
    recordedAt: timestampOf(`2026-02-20T00:29:59.00${seq}Z`),
  })),
  { hash: EVENT_RECORD.hash },
  sha256Hex,
)

const hashes = [hashOf('', example, sha256Hex), ...later.map((record) => record.hash)]
const data = hashes.map((hex) => Buffer.from(hex, 'hex'))

const records = [
  { hash: EVENT_RECORD.hash, recordedAt: EVENT_RECORD.recorded_at },
  ...later.map(({ hash: own, recordedAt }) => ({ hash: own, recordedAt })),
].map((record) => leafOf({ ...record, signature: null, publicKey: null }, sha256))

const noteAt = (size: number): string => {
  const frontier = extendFrontier(EMPTY_FRONTIER, records.slice(0, size), sha256)
  const text = checkpointText({
    origin: `signal-engine/events/${EVENT_RECORD.hash}`,
    frontier,
    root: rootOf(frontier, sha256),
    eventRoot: treeHash(data.slice(0, size)),
    head: hashes[size - 1]!,
    time: '2026-02-20T00:30:00.000Z',
  })
  const { nodeId: keyName, publicKey } = signer
  return signedNote(text, { keyName, publicKey, signature: signer.sign(text) }, sha256)
}

export const EXAMPLE_KEY = verifierKeyText(signer.nodeId, signer.publicKey, sha256)

export const exampleNote = noteAt

/** The hashes are those of the independent implementation. */
export const exampleProof = (index = 0, size = 5): string => {
  const record = index === 0 ? { ...example, prevHash: '' } : later[index - 1]!
  return inclusionProofText({
    index,
    path: auditPath(index, data.slice(0, size)),
    preimage: preimageOf(record.prevHash, record),
    note: noteAt(size),
  })
}

export const exampleData = data
