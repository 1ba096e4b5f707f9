import { verifierKeyText } from '../../../core/log/proof.ts'
import { sha256 } from '../../../engine/sha256.ts'
import { isAccepted } from '../../../core/operations/keys.ts'
import { parseReason } from '../arguments.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { Failure, failureOf } from '../failure.ts'
import { accessCommand, openExisting, readState, recordingInLog, write } from '../store.ts'
import { good, printable, quiet, warning, type Row } from '../table.ts'
import { details } from '../view-text.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Every event is signed with the key of this node. It is saved encrypted with SVC_MASTER_PASSWORD, or in plain ' +
        'text for development.',
    )
    .examples(
      'svc identity create',
      'svc identity show --json',
      'svc identity rotate --reason "yearly change"',
      'svc identity admit svc-8a88e3dd7409f195 8a88e3dd…',
    )
  command
    .command('show')
    .summary('its public members')
    .runs(async ({ identity, home }) => {
      const { present, error, ...publicMembers } = await identity.describe()
      if (!present) {
        throw new Failure('identity.unavailable', `there is no identity in ${home} yet`, {
          advice:
            'Create one with "svc identity create". Until then every process signs with a key of its own.',
        })
      }
      if (error !== null) throw new Failure('identity.unavailable', error)
      const { node_id, public_key, encrypted } = publicMembers
      const verifier_key =
        node_id === null || public_key === null ? null : verifierKeyText(node_id, public_key, sha256)
      const document = { ...publicMembers, verifier_key }
      const key = keyRow(encrypted === true)
      return { document, text: details(document, ['node_id', 'public_key', 'verifier_key', key]) }
    })
  command
    .command('create')
    .summary('save a new identity, unless there is one')
    .option('--dev', 'development: without a password, save the key in plain text')
    .runs(async (invocation, { dev = false }: { readonly dev?: boolean }) => {
      const { status, path, nodeId, publicKey, encrypted } = await recordingInLog(
        invocation,
        async (record) => {
          const created = await invocation.identity.create({ development: dev })
          if (created.status === 'created') await record('identity create')
          return created
        },
      )
      const created = status === 'created'
      const document = { created, node_id: nodeId, public_key: publicKey, encrypted }
      const file = created ? good(`${path} created`) : quiet(`${path} was there already`)
      return {
        document,
        text: details(document, ['node_id', 'public_key', keyRow(encrypted), ['File', file]]),
      }
    })
  command
    .command('admit')
    .summary('let another node write to this log')
    .argument('<node>', 'its id, as "svc identity show" prints it there')
    .argument('<key>', 'its public key, 64 hex digits')
    .option('--reason <text>', 'why, for the log', parseReason, 'another process of this log')
    .runs(async (invocation, nodeId: string, publicKey: string, { reason }: { readonly reason: string }) => {
      const key = { node_id: nodeId, public_key: publicKey.toLowerCase(), reason }
      await write(invocation, 'identity admit', () => ({ kind: 'admit-key', key }))
      return { document: key, text: `${printable(nodeId)} is admitted\n` }
    })
  command
    .command('retire')
    .summary('no longer let another node write')
    .argument('<node>', 'its id')
    .requiredOption('--reason <text>', 'why, for the log', parseReason)
    .runs(async (invocation, nodeId: string, { reason }: { readonly reason: string }) => {
      await write(invocation, 'identity retire', () => ({ kind: 'retire-key', nodeId, reason }))
      return { document: { node_id: nodeId, reason }, text: `${printable(nodeId)} is retired\n` }
    })
  command
    .command('rotate')
    .summary('replace the key of this node')
    .requiredOption('--reason <text>', 'why, for the log', parseReason)
    .runs((invocation, { reason }: { readonly reason: string }) => rotate(invocation, reason))
}

/** The new key is durable before the log knows it, and in force after: a rotation that was cut off is run again. */
const rotate = async (invocation: Invocation, reason: string): Promise<Answer> => {
  const { identity, findService } = invocation
  if ((await findService()) !== null) {
    throw new Failure('identity.in_use', 'the service of this home is running with the key', {
      advice: 'Stop it, rotate the key, and start it again.',
    })
  }
  const { node_id: before } = await identity.describe()
  if (before === null)
    throw new Failure('identity.unavailable', `there is no identity in ${invocation.home} yet`)
  const { nodeId, publicKey } = await identity.prepareSuccessor()
  const { nodes } = (await readState(invocation)).operations
  if (!isAccepted(nodes, nodeId)) {
    await using session = await openExisting(invocation)
    const engine = await session.openEngine()
    const successor = { node_id: nodeId, public_key: publicKey, reason }
    // In one batch: it is the last one that the old key signs.
    const alongside = accessCommand(invocation, 'identity rotate')
    const outcome = await engine.execute({ kind: 'rotate-key', successor }, { alongside })
    if (outcome.status === 'refused') throw failureOf(outcome.refusal)
  }
  await identity.installSuccessor()
  return { document: { node_id: nodeId, public_key: publicKey, retired: before } }
}

const keyRow = (encrypted: boolean): Row => [
  'Private key',
  encrypted ? good('encrypted') : warning('plain text (development)'),
]
