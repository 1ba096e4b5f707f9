import { readFile } from 'node:fs/promises'
import { parseProof, parseTreeHead, type SignedTreeHead } from '../../../core/log/proof.ts'
import { proveConsistency, proveEvent, keptCheckpoint, type Proved } from '../../../engine/proofs/prove.ts'
import type { CheckpointStore } from '../../../ports/checkpoints.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import type { StoreSession } from '../dependencies.ts'
import { writeWholeFile } from '../exporting.ts'
import { cannotRead, Failure, UsageError } from '../failure.ts'
import { openExisting } from '../store.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Writes a proof that an event is in the log, up to a signed checkpoint; one is signed if none covers the event yet. ' +
        'With --from and --to it proves that a later checkpoint only adds events to an earlier one. Who receives it ' +
        'checks it with "svc verify-proof" or the page /verify of the dashboard, and needs only the public key.',
    )
    .argument('[event-id]', 'the id of the event')
    .option('--from <checkpoint>', 'the earlier checkpoint: its size, or a file that holds it')
    .option('--to <checkpoint>', 'the later checkpoint (default: the newest)')
    .option('--out <file>', 'write to this file instead of standard output')
    .option('--force', 'replace the file if it exists')
    .examples(
      'svc prove 019c7874-0f70-7c3e-9a51-2f6f0c1b7a10 --out call.tlog-proof',
      'svc prove --from 1000 --to 2000 --out growth.proof',
      'svc prove --from call.tlog-proof > growth.proof',
    )
    .runs(prove)
}

interface ProveOptions {
  readonly from?: string
  readonly to?: string
  readonly out?: string
  readonly force?: true
}

const prove = async (
  invocation: Invocation,
  id: string | undefined,
  options: ProveOptions,
): Promise<Answer | void> => {
  const { from, to, out, force = false } = options
  if ((id === undefined) === (from === undefined)) throw new UsageError('name an event id, or --from')
  if (to !== undefined && from === undefined) throw new UsageError('--to goes with --from')
  if (force && out === undefined) throw new UsageError('--force goes with --out')
  const proof = await proofOf(invocation, id, options)
  if (proof.status === 'unavailable') throw unavailable(proof.detail)
  const { text } = proof
  if (out === undefined)
    return invocation.print.json ? { document: { proof: text }, text } : invocation.print.asIs(text)
  await writeWholeFile(out, { force }, (write) => write(text))
  const bytes = Buffer.byteLength(text)
  return { document: { output: out, bytes }, text: `A proof of ${bytes} bytes written to ${out}\n` }
}

const proofOf = async (
  invocation: Invocation,
  id: string | undefined,
  { from = '', to = null }: { readonly from?: string; readonly to?: string | null },
): Promise<Proved> => {
  await using session = await openExisting(invocation)
  return await (id === undefined ? consistencyOf(session, from, to) : inclusionOf(invocation, session, id))
}

const inclusionOf = async (
  { identity, environment, signatures }: Invocation,
  session: StoreSession,
  id: string,
): Promise<Proved> => {
  const record = await session.log.get(id)
  if (record === null)
    throw new Failure('event.not_found', `no event has the id ${id}`, { extras: { event_id: id } })
  const { node_id: nodeId, public_key: publicKey, encrypted } = await identity.describe()
  const signer = nodeId === null || publicKey === null ? null : { nodeId, publicKey }
  // A signature of a key that ends with this process would prove nothing.
  const canSign =
    signer !== null && (encrypted === false || (environment['SVC_MASTER_PASSWORD'] ?? '') !== '')
  const signCheckpoint = canSign ? session.signCheckpoint : null
  const checkpoints = checkpointsOf(session)
  const { log, trust } = session
  return proveEvent({ log, checkpoints, signatures, trust, signer, signCheckpoint }, record)
}

const consistencyOf = async (session: StoreSession, from: string, to: string | null): Promise<Proved> => {
  const older = await checkpointNamed(session, from)
  const newer = await checkpointNamed(session, to)
  if (older.size > newer.size)
    throw new UsageError(`the earlier checkpoint has ${older.size} events, the later one only ${newer.size}`)
  return proveConsistency(session.log, older, newer)
}

/** By its size, or from a file; null is the newest. */
const checkpointNamed = async (
  session: StoreSession,
  name: string | null,
): Promise<Pick<SignedTreeHead, 'size' | 'root' | 'note'>> => {
  const isSize = name === null || /^[0-9]+$/.test(name)
  if (!isSize) return checkpointIn(name)
  const found = await keptCheckpoint(checkpointsOf(session), name === null ? null : Number(name))
  if (found.status === 'found') return found
  throw new Failure(
    'checkpoint.not_found',
    name === null ? 'there is no checkpoint yet' : `no checkpoint of ${name} events is kept`,
    {
      advice:
        found.kept.length === 0
          ? 'A running service signs one at least every store.checkpoint_every_seconds.'
          : `Kept sizes: ${found.kept.join(', ')}. An older one can be named by the file that holds it.`,
    },
  )
}

/** A proof ends with the checkpoint it leads to; a checkpoint may also be alone in its file. */
const checkpointIn = async (file: string): Promise<SignedTreeHead> => {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw cannotRead(file, error)
  })
  const proof = parseProof(text)
  const treeHead =
    proof.kind === 'inclusion'
      ? proof.treeHead
      : proof.kind === 'consistency'
        ? proof.newer
        : parseTreeHead(text)
  if (treeHead === null) throw new Failure('file.unreadable', `${file} holds no proof and no checkpoint`)
  return treeHead
}

const checkpointsOf = ({ checkpoints }: StoreSession): CheckpointStore => {
  if (checkpoints === null) throw unavailable('a log in memory keeps no checkpoints')
  return checkpoints
}

const unavailable = (detail: string): Failure =>
  new Failure('proof.unavailable', detail, {
    advice:
      'A running service signs checkpoints by itself; without one, SVC_MASTER_PASSWORD opens the key to sign with.',
  })
