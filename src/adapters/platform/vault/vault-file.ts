import { join } from 'node:path'
import { z } from 'zod'
import { decryptFernet, encryptFernet } from '../crypto/fernet.ts'
import { kdfSchema, type Kdf } from '../crypto/password-key.ts'

/** Names and values, as they are inside the token. */
export type VaultEntries = ReadonlyMap<string, string>

export type VaultFile = z.infer<typeof vaultFile>

/** The vault cannot be opened with what we have: another password, or damage. */
export class VaultUnreadableError extends Error {
  override readonly name = 'VaultUnreadableError'
  constructor() {
    super('Invalid master password or damaged vault')
  }
}

export const vaultPath = (home: string): string => join(home, 'identity', 'vault.json')

export const parseVaultFile = (text: string): VaultFile => {
  const parsed = vaultFile.safeParse(jsonOf(text))
  if (!parsed.success) throw new VaultUnreadableError()
  return parsed.data
}

export const openEntries = (file: VaultFile, key: string): VaultEntries => {
  const text = decryptFernet(key, file.token)?.toString('utf8')
  const parsed = entriesSchema.safeParse(text === undefined ? undefined : jsonOf(text))
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

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's message would repeat parts of the vault.
    throw new VaultUnreadableError()
  }
}
