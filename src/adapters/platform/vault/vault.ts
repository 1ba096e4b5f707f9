import { join } from 'node:path'
import { z } from 'zod'
import type { Clock } from '../../../ports/clock.ts'
import { withFileLock } from '../../file-lock.ts'
import { jsonIn } from '../../files.ts'
import { decryptFernet, encryptFernet } from '../crypto/fernet.ts'
import { fernetKeyFrom, kdfSchema, newKdf, type Kdf } from '../crypto/password-key.ts'
import {
  preparePrivateFolder,
  readPrivateFile,
  replacePrivateFile,
  SecurityError,
} from '../crypto/private-file.ts'

/** Secrets by name in one encrypted file. Several processes may change it at once; none loses an entry. */
export interface Vault {
  /** Without a master password it can be neither read nor written. */
  readonly locked: boolean
  isPresent(): Promise<boolean>
  /** Names in order, never values. */
  list(): Promise<readonly string[]>
  /** Null when the vault has no such secret. */
  get(name: string): Promise<string | null>
  set(name: string, value: string): Promise<void>
  /** False when there was no such secret. */
  remove(name: string): Promise<boolean>
}

export interface VaultOptions {
  readonly home: string
  /** SVC_MASTER_PASSWORD; empty counts as not set. */
  readonly password: string | undefined
  readonly clock: Pick<Clock, 'now'>
}

/** An invalid name or value. */
export class VaultEntryError extends Error {
  override readonly name = 'VaultEntryError'
}

export const VALUE_BYTES_MAX = 64 * 1024
export const ENTRIES_MAX = 1000

export const createVault = ({ home, password, clock }: VaultOptions): Vault => {
  const path = vaultPath(home)
  const keys = keyring(password)

  const readFile = async (): Promise<VaultFile | null> => {
    const text = await readPrivateFile(path)
    return text === null ? null : parseVaultFile(text)
  }

  const read = async (): Promise<VaultEntries> => {
    keys.assertSet()
    const file = await readFile()
    return file === null ? new Map() : openEntries(file, await keys.keyFor(file.kdf))
  }

  const change = async (update: (entries: VaultEntries) => VaultEntries): Promise<void> => {
    keys.assertSet()
    const kdf = (await readFile())?.kdf ?? newKdf()
    // Deriving the key is slow, so it happens before the lock is taken.
    const key = await keys.keyFor(kdf)
    await preparePrivateFolder(path)
    const isWritten = await withFileLock(`${path}.lock`, async (lock) => {
      const file = await readFile()
      // Another process created the vault meanwhile, with its own salt.
      if (file !== null && file.kdf.salt_b64 !== kdf.salt_b64) return false
      const entries = update(file === null ? new Map() : openEntries(file, key))
      if (!(await lock.isStillOurs())) return false
      await replacePrivateFile(path, sealEntries(entries, kdf, key, clock.now()))
      return true
    })
    if (!isWritten) await change(update)
  }

  return {
    locked: keys.locked,
    isPresent: async () => (await readPrivateFile(path)) !== null,
    list: async () => [...(await read()).keys()].sort(),
    get: async (name) => (await read()).get(name) ?? null,
    set: async (name, value) => {
      checkEntry(name, value)
      await change((entries) => {
        if (!entries.has(name) && entries.size >= ENTRIES_MAX) {
          throw new VaultEntryError(`the vault holds at most ${ENTRIES_MAX} secrets`)
        }
        return new Map(entries).set(name, value)
      })
    },
    remove: async (name) => {
      if (!(await read()).has(name)) return false
      await change((entries) => new Map([...entries].filter(([other]) => other !== name)))
      return true
    },
  }
}

const checkEntry = (name: string, value: string): void => {
  if (!NAME.test(name)) {
    throw new VaultEntryError('a name has 1 to 128 letters, digits, dots, colons, dashes or underscores')
  }
  const bytes = Buffer.byteLength(value)
  if (bytes === 0 || bytes > VALUE_BYTES_MAX) {
    throw new VaultEntryError(`a value has 1 to ${VALUE_BYTES_MAX} bytes`)
  }
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/

interface Keyring {
  readonly locked: boolean
  assertSet(): void
  keyFor(kdf: Kdf): Promise<string>
}

/** Keeps the key of the last salt: deriving one takes a fraction of a second. */
const keyring = (password: string | undefined): Keyring => {
  let last: { readonly kdf: Kdf; readonly key: Promise<string> } | null = null
  const passwordOrThrow = (): string => {
    if (password !== undefined && password !== '') return password
    throw new SecurityError('the vault is locked: set SVC_MASTER_PASSWORD')
  }
  return {
    locked: password === undefined || password === '',
    assertSet: () => void passwordOrThrow(),
    keyFor: (kdf) => {
      if (last?.kdf.salt_b64 !== kdf.salt_b64 || last.kdf.iterations !== kdf.iterations) {
        last = { kdf, key: fernetKeyFrom(passwordOrThrow(), kdf) }
      }
      return last.key
    },
  }
}

/** Names and values. */
type VaultEntries = ReadonlyMap<string, string>

type VaultFile = z.infer<typeof vaultFile>

/** The password is wrong, or the file is damaged. */
export class VaultUnreadableError extends Error {
  override readonly name = 'VaultUnreadableError'
  constructor() {
    super('Invalid master password or damaged vault')
  }
}

export const vaultPath = (home: string): string => join(home, 'identity', 'vault.json')

const parseVaultFile = (text: string): VaultFile => {
  const parsed = vaultFile.safeParse(jsonIn(text))
  if (!parsed.success) throw new VaultUnreadableError()
  return parsed.data
}

const openEntries = (file: VaultFile, key: string): VaultEntries => {
  const text = decryptFernet(key, file.token)?.toString('utf8')
  const parsed = entriesSchema.safeParse(text === undefined ? undefined : jsonIn(text))
  if (!parsed.success) throw new VaultUnreadableError()
  return new Map(Object.entries(parsed.data))
}

export const sealEntries = (entries: VaultEntries, kdf: Kdf, key: string, nowMs: number): string => {
  const data = Buffer.from(JSON.stringify(Object.fromEntries(entries)))
  const file: VaultFile = { version: 1, kdf, token: encryptFernet(key, data, Math.floor(nowMs / 1000)) }
  return `${JSON.stringify(file, null, 2)}\n`
}

const vaultFile = z.object({ version: z.literal(1), kdf: kdfSchema, token: z.string().min(1) })
const entriesSchema = z.record(z.string(), z.string())
