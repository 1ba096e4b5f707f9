import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { decryptFernet, encryptFernet } from '../crypto/fernet.ts'
import { fernetKeyFrom, type Kdf } from '../crypto/password-key.ts'
import { SecurityError } from '../crypto/private-file.ts'
import { moduleOf } from '../../../../test/program.fixture.ts'
import { sealEntries, vaultPath, VaultUnreadableError } from './vault.ts'
import { createVault, ENTRIES_MAX, VALUE_BYTES_MAX, VaultEntryError, type Vault } from './vault.ts'

const PASSWORD = 'correct horse'
const KDF: Kdf = { name: 'pbkdf2_hmac_sha256', iterations: 480_000, salt_b64: 'AAECAwQFBgcICQoLDA0ODw==' }

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'vault-'))
})
afterEach(() => rm(home, { recursive: true }))

const vaultWith = (password: string | undefined): Vault =>
  createVault({ home, password, clock: { now: () => 1_771_547_398_000 } })

const savedFile = async (): Promise<{ version: number; kdf: Kdf; token: string }> =>
  JSON.parse(await readFile(vaultPath(home), 'utf8')) as { version: number; kdf: Kdf; token: string }

describe('vault', () => {
  it('keeps secrets for later, each under its name', async () => {
    const vault = vaultWith(PASSWORD)
    expect(await vault.isPresent()).toBe(false)
    expect(await vault.list()).toEqual([])
    expect(await vault.get('venue.api_key')).toBeNull()
    expect(await vault.remove('venue.api_key')).toBe(false)

    await vault.set('venue.secret', 'Größe')
    await vault.set('venue.api_key', 'old')
    await vault.set('venue.api_key', 'new')
    const later = vaultWith(PASSWORD)
    expect(await later.list()).toEqual(['venue.api_key', 'venue.secret'])
    expect(await later.get('venue.api_key')).toBe('new')
    expect(await later.get('venue.secret')).toBe('Größe')
    expect(await later.remove('venue.api_key')).toBe(true)
    expect(await vault.list()).toEqual(['venue.secret'])
    expect(await vault.get('constructor')).toBeNull()
  })

  it('writes one private file in the form of the contract', async () => {
    await vaultWith(PASSWORD).set('venue.api_key', 'k-1')
    const file = await savedFile()
    expect(Object.keys(file)).toEqual(['version', 'kdf', 'token'])
    expect(file).toMatchObject({ version: 1, kdf: { name: 'pbkdf2_hmac_sha256', iterations: 480_000 } })
    const opened = decryptFernet(await fernetKeyFrom(PASSWORD, file.kdf), file.token)
    expect(JSON.parse(opened?.toString() ?? '')).toEqual({ 'venue.api_key': 'k-1' })
    expect((await stat(vaultPath(home))).mode & 0o777).toBe(0o600)
    expect(await readdir(join(home, 'identity'))).toEqual(['vault.json'])
  })

  it('keeps its salt and changes its token on every write', async () => {
    const vault = vaultWith(PASSWORD)
    await vault.set('a', '1')
    const first = await savedFile()
    await vault.set('a', '1')
    const second = await savedFile()
    expect(second.kdf).toEqual(first.kdf)
    expect(second.token).not.toBe(first.token)
  })

  it('refuses a wrong password and changes nothing', async () => {
    await vaultWith(PASSWORD).set('a', '1')
    const before = await savedFile()
    const vault = vaultWith('wrong')
    await expect(vault.list()).rejects.toThrow(/^Invalid master password or damaged vault$/)
    await expect(vault.set('b', '2')).rejects.toBeInstanceOf(VaultUnreadableError)
    expect(await savedFile()).toEqual(before)
    expect(await readdir(join(home, 'identity'))).toEqual(['vault.json'])
  })

  it.each([undefined, ''])('needs a password: %j', async (password) => {
    const vault = vaultWith(password)
    expect(vault.locked).toBe(true)
    for (const attempt of [vault.list(), vault.get('a'), vault.set('a', '1'), vault.remove('a')]) {
      await expect(attempt).rejects.toBeInstanceOf(SecurityError)
    }
    await expect(vault.list()).rejects.toThrow(/^SECURITY ERROR: .*SVC_MASTER_PASSWORD/)
    expect(await readdir(home)).toEqual([])
  })

  it.each(['', ' a', '__proto__', 'a b', 'a|b', 'x'.repeat(129)])('refuses the name %j', async (name) => {
    await expect(vaultWith(PASSWORD).set(name, '1')).rejects.toBeInstanceOf(VaultEntryError)
  })

  it.each(['', 'ö'.repeat(VALUE_BYTES_MAX / 2 + 1)])('refuses a value of the wrong size', async (value) => {
    await expect(vaultWith(PASSWORD).set('a', value)).rejects.toThrow(`1 to ${VALUE_BYTES_MAX} bytes`)
  })

  it('refuses more secrets than it may hold, but still changes those it has', async () => {
    await vaultWith(PASSWORD).set('s0', '1')
    const key = await fernetKeyFrom(PASSWORD, KDF)
    const full = new Map(Array.from({ length: ENTRIES_MAX }, (_, number) => [`s${number}`, '1']))
    await writeFile(vaultPath(home), sealEntries(full, KDF, key, 0), { mode: 0o600 })
    const vault = vaultWith(PASSWORD)
    await expect(vault.set('one-more', '1')).rejects.toThrow(`at most ${ENTRIES_MAX}`)
    await vault.set('s7', '2')
    expect(await vault.get('s7')).toBe('2')
  })

  it('refuses a damaged file', async () => {
    const vault = vaultWith(PASSWORD)
    await vault.set('a', '1')
    const { token } = await savedFile()
    const key = await fernetKeyFrom(PASSWORD, KDF)
    const damaged = [
      '',
      '{}',
      JSON.stringify({ version: 2, kdf: KDF, token }),
      JSON.stringify({ version: 1, kdf: { ...KDF, iterations: 1 }, token }),
      JSON.stringify({ version: 1, kdf: KDF, token: `${token.slice(0, -8)}AAAAAAA=` }),
      JSON.stringify({ version: 1, kdf: KDF, token: encryptFernet(key, Buffer.from('no JSON'), 0) }),
      JSON.stringify({ version: 1, kdf: KDF, token: encryptFernet(key, Buffer.from('{"a":1}'), 0) }),
    ]
    for (const content of damaged) {
      await writeFile(vaultPath(home), content, { mode: 0o600 })
      await expect(vault.get('a')).rejects.toThrow('Invalid master password or damaged vault')
    }
  })
})

describe('several writers', () => {
  it('lose nothing inside a process, also when all create the vault', async () => {
    const names = Array.from({ length: 6 }, (_, number) => `n${number}`)
    await Promise.all(names.slice(0, 3).map((name) => vaultWith(PASSWORD).set(name, name)))
    const vault = vaultWith(PASSWORD)
    await Promise.all([...names.slice(3).map((name) => vault.set(name, name)), vault.remove('n0')])
    expect(await vault.list()).toEqual(names.slice(1))
    expect(await readdir(join(home, 'identity'))).toEqual(['vault.json'])
  })

  it('lose nothing between processes', async () => {
    const code = (writer: number): string => `
      import { once } from 'node:events'
      import { createVault } from ${JSON.stringify(moduleOf('src/adapters/platform/vault/vault'))}
      const vault = createVault({ home: ${JSON.stringify(home)}, password: 'correct horse', clock: Date })
      await vault.list()
      process.stdout.write('ready')
      await once(process.stdin, 'data')
      for (let number = 0; number < 20; number += 1) await vault.set('w${writer}-' + number, 'x')
      process.exit()`
    await vaultWith(PASSWORD).set('first', 'x')
    const writers = [1, 2, 3].map((writer) =>
      spawn(process.execPath, ['--input-type=module', '-e', code(writer)]),
    )
    await Promise.all(writers.map((writer) => once(writer.stdout, 'data')))
    for (const writer of writers) writer.stdin.write('go')
    const errors = await Promise.all(writers.map((writer) => text(writer.stderr)))
    expect(errors).toEqual(['', '', ''])
    expect(await vaultWith(PASSWORD).list()).toHaveLength(61)
  })
})
