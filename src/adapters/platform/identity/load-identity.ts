import { rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Clock } from '../../../ports/clock.ts'
import { syncFolderOf } from '../../files.ts'
import { decryptFernet, encryptFernet } from '../crypto/fernet.ts'
import { fernetKeyFrom, newKdf } from '../crypto/password-key.ts'
import { createPrivateFile, readPrivateFile, SecurityError } from '../crypto/private-file.ts'
import {
  IdentityMissingError,
  identityPath,
  IdentityUnreadableError,
  parseIdentityFile,
  type IdentityFile,
} from './identity-file.ts'
import { logPins } from './log-pins.ts'
import { createEphemeralIdentity, publicKeyOf, type Identity } from './identity.ts'

export interface IdentityOptions {
  readonly home: string
  /** SVC_MASTER_PASSWORD. An empty value counts as not set. */
  readonly password: string | undefined
  /** SVC_DEV_MODE: the key may be saved in plain text. */
  readonly devMode: boolean
  readonly nodePrefix: string
  readonly clock: Pick<Clock, 'now'>
}

export interface LoadedIdentity {
  readonly status: 'loaded' | 'created'
  readonly identity: Identity
  readonly encrypted: boolean
}

/**
 * The identity of this node, created on first use and never overwritten. Throws SecurityError when a new one may not be
 * saved, IdentityUnreadableError when the saved one cannot be opened, IdentityMissingError when it is gone.
 */
export const loadIdentity = async (options: IdentityOptions): Promise<LoadedIdentity> => {
  const path = identityPath(options.home)
  const saved = await savedIdentity(options)
  if (saved !== null) return saved

  const identity = { ...createEphemeralIdentity(options.nodePrefix), ephemeral: false }
  const file = await fileOf(identity, options)
  const created = await createPrivateFile(path, `${JSON.stringify(file, null, 2)}\n`)
  if (created) return { status: 'created', identity, encrypted: 'kdf' in file }
  // Another process created the identity first. This node uses it.
  return loadIdentity(options)
}

/** Throws the same errors as `loadIdentity`, and writes nothing. */
export const checkIdentity = async (options: IdentityOptions): Promise<void> => {
  if ((await savedIdentity(options)) === null) requireProtection(options)
}

/** Null where this home has no identity and may get one. */
const savedIdentity = async ({ home, password }: IdentityOptions): Promise<LoadedIdentity | null> => {
  const saved = await readPrivateFile(identityPath(home))
  if (saved !== null) return openIdentity(saved, password)
  if ((await logPins(home).all()).length > 0) throw new IdentityMissingError()
  return null
}

/** Saves the identity that will follow this one, or returns the one saved earlier. It has no effect yet. */
export const prepareSuccessor = async (options: IdentityOptions): Promise<Identity> => {
  const path = successorPath(options.home)
  const saved = await readPrivateFile(path)
  if (saved !== null) return (await openIdentity(saved, options.password)).identity
  // A successor under a mistyped password could not be opened with the right one, and would end every later rotation.
  const present = await readPrivateFile(identityPath(options.home))
  if (present !== null) await openIdentity(present, options.password)
  const identity = { ...createEphemeralIdentity(options.nodePrefix), ephemeral: false }
  const file = await fileOf(identity, options)
  if (await createPrivateFile(path, `${JSON.stringify(file, null, 2)}\n`)) return identity
  // Another process saved a successor first. A key that is not saved must not get into the log.
  return prepareSuccessor(options)
}

/** Replaces the identity by its successor. The old identity is kept beside it under its own name. */
export const installSuccessor = async (home: string): Promise<void> => {
  const path = identityPath(home)
  const text = (await readPrivateFile(path)) ?? ''
  const retired = parseIdentityFile(text).node_id
  // After an interrupted attempt the file exists already. Its name contains the node id, so it is the same identity.
  await createPrivateFile(join(dirname(path), `${retired}.retired.json`), text)
  await rename(successorPath(home), path)
  await syncFolderOf(path)
}

const successorPath = (home: string): string => join(dirname(identityPath(home)), 'successor.json')

const openIdentity = async (text: string, password: string | undefined): Promise<LoadedIdentity> => {
  const file = parseIdentityFile(text)
  const seed = await seedOf(file, password)
  if (seed.length !== 32 || publicKeyOf(seed) !== file.public_key) {
    throw new IdentityUnreadableError('private and public key do not belong together')
  }
  const identity = { nodeId: file.node_id, publicKey: file.public_key, seed, ephemeral: false }
  return { status: 'loaded', identity, encrypted: 'kdf' in file }
}

const seedOf = async (file: IdentityFile, password: string | undefined): Promise<Buffer> => {
  if (!('kdf' in file)) return Buffer.from(file.private_key, 'hex')
  if (!isSet(password)) throw new IdentityUnreadableError('set SVC_MASTER_PASSWORD to open it')
  const seed = decryptFernet(await fernetKeyFrom(password, file.kdf), file.private_key_enc)
  if (seed === null) throw new IdentityUnreadableError()
  return seed
}

const fileOf = async (
  { nodeId, publicKey, seed }: Identity,
  options: IdentityOptions,
): Promise<IdentityFile> => {
  requireProtection(options)
  const { password, clock } = options
  const now = clock.now()
  const members = {
    node_id: nodeId,
    public_key: publicKey,
    alg: 'ed25519' as const,
    created_at: new Date(now).toISOString(),
  }
  if (isSet(password)) {
    const kdf = newKdf()
    const key = await fernetKeyFrom(password, kdf)
    return { ...members, private_key_enc: encryptFernet(key, seed, Math.floor(now / 1000)), kdf }
  }
  return {
    ...members,
    private_key: Buffer.from(seed).toString('hex'),
    warning:
      'Development mode: the private key is stored in plain text. Never use this identity in production.',
  }
}

/** Throws where a new private key would be stored in plain text without development mode. */
const requireProtection = ({ password, devMode }: IdentityOptions): void => {
  if (isSet(password) || devMode) return
  throw new SecurityError(
    'the identity may not be saved. Set SVC_MASTER_PASSWORD to encrypt the private key, or SVC_DEV_MODE=1 ' +
      'to store it in plain text (development only)',
  )
}

const isSet = (password: string | undefined): password is string => password !== undefined && password !== ''
