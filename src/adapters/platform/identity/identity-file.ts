import { join } from 'node:path'
import { z } from 'zod'
import type { IdentityDescription } from '../../../ports/signer.ts'
import { jsonIn } from '../../files.ts'
import { kdfSchema } from '../crypto/password-key.ts'
import { readPrivateFile } from '../crypto/private-file.ts'
import { nodeIdOf } from './identity.ts'

export type IdentityFile = z.infer<typeof encryptedFile> | z.infer<typeof developmentFile>

/** The file cannot be opened with what we have: another password, or damage. */
export class IdentityUnreadableError extends Error {
  override readonly name = 'IdentityUnreadableError'
  constructor(reason?: string) {
    super(`Invalid master password or damaged identity file${reason === undefined ? '' : `: ${reason}`}`)
  }
}

/** This home had an identity: a new one in its place would go unnoticed until a log refuses it. */
export class IdentityMissingError extends Error {
  override readonly name = 'IdentityMissingError'
  constructor() {
    super(
      'identity/identity.json is missing, and identity/logs.json says that it has written logs: put it back from a ' +
        'copy. To begin as a new node, which these logs do not accept, remove identity/logs.json',
    )
  }
}

/** The log is closed to this node: its identity was replaced or lost, or it was never admitted. */
export class IdentityNotAdmittedError extends Error {
  override readonly name = 'IdentityNotAdmittedError'
  constructor(nodeId: string, publicKey: string, ephemeral: boolean) {
    super(
      ephemeral
        ? `the log belongs to a saved identity, and this process has none (it would sign as ${nodeId}): ` +
            'set SVC_MASTER_PASSWORD, or SVC_DEV_MODE=1 for a key in plain text'
        : `the log does not accept the key of ${nodeId}: put back the identity that wrote it ` +
            `(identity/identity.json), or admit this key on a node that is accepted: svc identity admit ${nodeId} ${publicKey}`,
    )
  }
}

export const identityPath = (home: string): string => join(home, 'identity', 'identity.json')

export const parseIdentityFile = (text: string): IdentityFile => {
  const json = jsonIn(text)
  if (json === undefined) throw new IdentityUnreadableError('it is not JSON')
  const isEncrypted = typeof json === 'object' && json !== null && 'private_key_enc' in json
  const parsed = (isEncrypted ? encryptedFile : developmentFile).safeParse(json)
  if (!parsed.success) throw new IdentityUnreadableError(faultOf(parsed.error))
  return parsed.data
}

/** Never the values themselves: one of them may be the key. */
const faultOf = (error: z.ZodError): string => {
  const members = new Set(error.issues.map(({ path }) => path.join('.')).filter((path) => path !== ''))
  return members.size === 0 ? 'it is not an identity' : `wrong ${[...members].join(', ')}`
}

const publicMembers = {
  node_id: z.string().regex(/^[a-z][a-z0-9]{0,15}-[0-9a-f]{16}$/),
  public_key: z.string().regex(/^[0-9a-f]{64}$/),
  alg: z.literal('ed25519'),
  created_at: z.iso.datetime(),
}

const isNamedByKey = ({
  node_id,
  public_key,
}: {
  readonly node_id: string
  readonly public_key: string
}): boolean => node_id === nodeIdOf(node_id.slice(0, node_id.indexOf('-')), public_key)

const encryptedFile = z
  .object({
    ...publicMembers,
    private_key_enc: z.string().min(1),
    kdf: kdfSchema,
    private_key: z.never().optional(),
  })
  .refine(isNamedByKey, { path: ['node_id'] })

const developmentFile = z
  .object({
    ...publicMembers,
    private_key: z.string().regex(/^[0-9a-f]{64}$/),
    warning: z.string(),
  })
  .refine(isNamedByKey, { path: ['node_id'] })

export const describeIdentity = async (home: string): Promise<IdentityDescription> => {
  const unknown = { present: true, node_id: null, public_key: null, encrypted: null, error: null }
  try {
    const text = await readPrivateFile(identityPath(home))
    if (text === null) return { ...unknown, present: false }
    const { node_id, public_key, ...rest } = parseIdentityFile(text)
    return { present: true, node_id, public_key, encrypted: 'kdf' in rest, error: null }
  } catch (error) {
    // The fault is part of the description: a report on health must come out whatever state the file is in.
    return { ...unknown, error: error instanceof Error ? error.message : String(error) }
  }
}
