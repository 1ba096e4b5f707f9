import { verifierKeyText } from '../../../core/log/proof.ts'
import { sha256 } from '../../../engine/integrity/sha256-bytes.ts'
import { examples, type DefineCommand } from '../command.ts'
import { Failure } from '../failure.ts'
import { recordingInLog } from '../store.ts'
import { fields, good, quiet, warning, type Cell } from '../table.ts'

export const define: DefineCommand = (command, run) => {
  command
    .description(
      'Every event is signed with the key of this node. It is saved encrypted with SVC_MASTER_PASSWORD, or in plain ' +
        'text for development.',
    )
    .addHelpText('after', examples('svc identity create', 'svc identity show --json'))
  command
    .command('show')
    .summary('its public members')
    .action(
      run(async ({ identity, home }) => {
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
        const text = fields([
          ['Node', node_id ?? quiet('unknown')],
          ['Public key', public_key ?? quiet('unknown')],
          ['Verifier key', verifier_key ?? quiet('unknown')],
          ['Private key', keyCell(encrypted === true)],
        ])
        return { document: { ...publicMembers, verifier_key }, text }
      }),
    )
  command
    .command('create')
    .summary('save a new identity, unless there is one')
    .option('--dev', 'development: without a password, save the key in plain text')
    .action(
      run(async (invocation, { dev = false }: { readonly dev?: boolean }) => {
        const { status, path, nodeId, publicKey, encrypted } = await recordingInLog(
          invocation,
          async (record) => {
            const created = await invocation.identity.create({ development: dev })
            if (created.status === 'created') await record('identity create')
            return created
          },
        )
        const isNew = status === 'created'
        const text = fields([
          ['Node', nodeId],
          ['Public key', publicKey],
          ['Private key', keyCell(encrypted)],
          ['File', isNew ? good(`${path} created`) : quiet(`${path} was there already`)],
        ])
        return { document: { created: isNew, node_id: nodeId, public_key: publicKey, encrypted }, text }
      }),
    )
}

const keyCell = (encrypted: boolean): Cell =>
  encrypted ? good('encrypted') : warning('plain text (development)')
