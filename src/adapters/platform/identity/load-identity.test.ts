import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { decryptFernet } from '../crypto/fernet.ts'
import { fernetKeyFrom, type Kdf } from '../crypto/password-key.ts'
import { SecurityError } from '../crypto/private-file.ts'
import { moduleOf } from '../../../../test/program.fixture.ts'
import { describeIdentity } from './identity-file.ts'
import { IdentityMissingError, identityPath, IdentityUnreadableError } from './identity-file.ts'
import { createEphemeralIdentity } from './identity.ts'
import { logPins } from './log-pins.ts'
import { installSuccessor, loadIdentity, prepareSuccessor, type IdentityOptions } from './load-identity.ts'

const NOW = '2026-02-20T00:29:58.000Z'
const PUBLIC_KEY = '8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c'
/** The key and the token of the contract's vectors, in the form of an identity file. */
const CONTRACT_FILE = {
  node_id: 'svc-8a88e3dd7409f195',
  public_key: PUBLIC_KEY,
  alg: 'ed25519',
  created_at: NOW,
  private_key_enc:
    'gAAAAABpl6sGAAECAwQFBgcICQoLDA0OD5O3MkshedxjZ15itSF5ffkIPRNCHodHYpVqINbMdA7CabovaMUzx-RH8l-J4CH4GiMIYHZQfwa8snnCe8wu1YFyZVZdrjoDLWCWei7pA0c3',
  kdf: { name: 'pbkdf2_hmac_sha256', iterations: 480_000, salt_b64: 'AAECAwQFBgcICQoLDA0ODw==' },
}
const DEVELOPMENT_FILE = {
  node_id: 'svc-8a88e3dd7409f195',
  public_key: PUBLIC_KEY,
  alg: 'ed25519',
  created_at: NOW,
  private_key: '01'.repeat(32),
  warning: 'plain text',
}

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'identity-'))
})
afterEach(() => rm(home, { recursive: true }))

const load = (options: Partial<IdentityOptions> = {}) =>
  loadIdentity({
    home,
    password: undefined,
    devMode: false,
    nodePrefix: 'svc',
    clock: { now: () => Date.parse(NOW) },
    ...options,
  })

const save = async (content: unknown): Promise<void> => {
  await mkdir(join(home, 'identity'))
  await writeFile(identityPath(home), typeof content === 'string' ? content : JSON.stringify(content), {
    mode: 0o600,
  })
}

const savedFile = async (): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(identityPath(home), 'utf8')) as Record<string, unknown>

it('is not replaced where one has written logs, with any way to save it or none', async () => {
  await load({ password: 'correct horse' })
  await logPins(home).write('/data/events.db', 'a'.repeat(64))
  await rm(identityPath(home))
  for (const options of [{ password: 'correct horse' }, { devMode: true }, {}]) {
    await expect(load(options)).rejects.toThrow(IdentityMissingError)
  }
  expect(await readdir(join(home, 'identity'))).toEqual(['logs.json'])
})

describe('with a master password', () => {
  it('creates an encrypted file once and opens it again', async () => {
    const created = await load({ password: 'correct horse', devMode: true })
    expect(created).toMatchObject({ status: 'created', encrypted: true, identity: { ephemeral: false } })

    const file = await savedFile()
    expect(Object.keys(file)).toEqual([
      'node_id',
      'public_key',
      'alg',
      'created_at',
      'private_key_enc',
      'kdf',
    ])
    expect(file).toMatchObject({ alg: 'ed25519', created_at: NOW, kdf: { iterations: 480_000 } })
    expect(file['node_id']).toBe(`svc-${created.identity.publicKey.slice(0, 16)}`)
    expect((await stat(identityPath(home))).mode & 0o777).toBe(0o600)
    expect((await stat(join(home, 'identity'))).mode & 0o777).toBe(0o700)
    const key = await fernetKeyFrom('correct horse', file['kdf'] as Kdf)
    expect(decryptFernet(key, file['private_key_enc'] as string)).toEqual(created.identity.seed)

    const before = await readFile(identityPath(home), 'utf8')
    expect(await load({ password: 'correct horse' })).toEqual({ ...created, status: 'loaded' })
    expect(await readFile(identityPath(home), 'utf8')).toBe(before)
  })

  it('opens the token of the contract', async () => {
    await save(CONTRACT_FILE)
    expect((await load({ password: 'correct horse' })).identity).toEqual({
      nodeId: 'svc-8a88e3dd7409f195',
      publicKey: PUBLIC_KEY,
      seed: Buffer.alloc(32, 1),
      ephemeral: false,
    })
  })

  it('keeps the name it was saved with when the prefix changes', async () => {
    await save(DEVELOPMENT_FILE)
    expect((await load({ nodePrefix: 'other' })).identity.nodeId).toBe('svc-8a88e3dd7409f195')
  })

  it('refuses a wrong password and leaves the file alone', async () => {
    await save(CONTRACT_FILE)
    const refusal = load({ password: 'wrong' })
    await expect(refusal).rejects.toThrow(/^Invalid master password or damaged identity file$/)
    await expect(refusal).rejects.toBeInstanceOf(IdentityUnreadableError)
    expect(await savedFile()).toEqual(CONTRACT_FILE)
  })

  it.each([undefined, ''])('refuses to open without one: %j', async (password) => {
    await save(CONTRACT_FILE)
    await expect(load({ password, devMode: true })).rejects.toThrow('set SVC_MASTER_PASSWORD')
  })
})

describe('without a master password', () => {
  it('writes plain text with a warning in development mode, and opens it in any mode', async () => {
    const created = await load({ devMode: true, nodePrefix: 'dev' })
    const file = await savedFile()
    expect(Object.keys(file)).toEqual([
      'node_id',
      'public_key',
      'alg',
      'created_at',
      'private_key',
      'warning',
    ])
    expect(file['private_key']).toBe(Buffer.from(created.identity.seed).toString('hex'))
    expect(created).toMatchObject({ status: 'created', encrypted: false })
    expect(created.identity.nodeId).toMatch(/^dev-[0-9a-f]{16}$/)
    expect(await load()).toEqual({ ...created, status: 'loaded' })
  })

  it('saves nothing otherwise, and says what to set', async () => {
    const refusal = load()
    await expect(refusal).rejects.toBeInstanceOf(SecurityError)
    await expect(refusal).rejects.toThrow(/^SECURITY ERROR: .*SVC_MASTER_PASSWORD.*SVC_DEV_MODE/)
    expect(await readdir(home)).toEqual([])
  })
})

it.each([
  ['not JSON', '{', 'not JSON'],
  ['empty', '', 'not JSON'],
  ['no object', '[]', 'not an identity'],
  ['no private key', { ...DEVELOPMENT_FILE, private_key: undefined }, 'wrong private_key'],
  ['a short private key', { ...DEVELOPMENT_FILE, private_key: '01' }, 'wrong private_key'],
  ['both forms', { ...DEVELOPMENT_FILE, ...CONTRACT_FILE }, 'wrong private_key'],
  ['another algorithm', { ...DEVELOPMENT_FILE, alg: 'rsa' }, 'wrong alg'],
  ['the name of another key', { ...DEVELOPMENT_FILE, node_id: 'svc-0000000000000000' }, 'wrong node_id'],
  [
    'little salt',
    { ...CONTRACT_FILE, kdf: { ...CONTRACT_FILE.kdf, salt_b64: 'AAEC' } },
    'wrong kdf.salt_b64',
  ],
  [
    'the key of another node',
    { ...DEVELOPMENT_FILE, private_key: '02'.repeat(32) },
    'do not belong together',
  ],
])('refuses a damaged file: %s', async (_name, content, reason) => {
  await save(content)
  await expect(load({ devMode: true })).rejects.toThrow('Invalid master password or damaged identity file: ')
  await expect(load({ devMode: true })).rejects.toThrow(reason)
  await expect(load({ devMode: true })).rejects.not.toThrow('0101')
})

describe('several at the same time', () => {
  it('end with one identity inside a process', async () => {
    const loaded = await Promise.all(Array.from({ length: 8 }, () => load({ devMode: true })))
    expect(new Set(loaded.map(({ identity }) => identity.nodeId)).size).toBe(1)
    expect(loaded.filter(({ status }) => status === 'created')).toHaveLength(1)
    expect(await readdir(join(home, 'identity'))).toEqual(['identity.json'])
  })

  it('end with one identity between processes', async () => {
    const code = `
      import { loadIdentity } from ${JSON.stringify(moduleOf('src/adapters/platform/identity/load-identity'))}
      const { identity } = await loadIdentity({
        home: ${JSON.stringify(home)}, password: undefined, devMode: true, nodePrefix: 'svc', clock: Date,
      })
      process.stdout.write(identity.publicKey)`
    const keys = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const child = spawn(process.execPath, ['--input-type=module', '-e', code])
        const [output, errors] = await Promise.all([
          text(child.stdout),
          text(child.stderr),
          once(child, 'exit'),
        ])
        expect(errors).toBe('')
        return output
      }),
    )
    expect(keys).toEqual([keys[0], keys[0], keys[0]])
    expect((await savedFile())['public_key']).toBe(keys[0])
  })
})

describe('the successor', () => {
  const options = (password?: string): IdentityOptions => ({
    home,
    password,
    devMode: password === undefined,
    nodePrefix: 'svc',
    clock: { now: () => Date.parse(NOW) },
  })

  it('is one and the same, and saved, for all who prepare it at once', async () => {
    await save(DEVELOPMENT_FILE)
    const prepared = await Promise.all(Array.from({ length: 4 }, () => prepareSuccessor(options())))
    await installSuccessor(home)
    const { identity } = await load({ devMode: true })
    expect(prepared.map(({ publicKey }) => publicKey)).toEqual(prepared.map(() => identity.publicKey))
  })

  it('is put in place by a second attempt where the first was cut off in the middle', async () => {
    await save(DEVELOPMENT_FILE)
    const { publicKey } = await prepareSuccessor(options())
    const retired = join(home, 'identity', `${DEVELOPMENT_FILE.node_id}.retired.json`)
    await writeFile(retired, JSON.stringify(DEVELOPMENT_FILE), { mode: 0o600 })
    await installSuccessor(home)
    expect((await load({ devMode: true })).identity.publicKey).toBe(publicKey)
    expect(JSON.parse(await readFile(retired, 'utf8'))).toEqual(DEVELOPMENT_FILE)
    expect((await stat(retired)).mode & 0o777).toBe(0o600)
  })

  it('is not saved under a password that does not open the present identity', async () => {
    await save(CONTRACT_FILE)
    await expect(prepareSuccessor(options('correct hrose'))).rejects.toBeInstanceOf(IdentityUnreadableError)
    expect(await readdir(join(home, 'identity'))).toEqual(['identity.json'])
    const { publicKey } = await prepareSuccessor(options('correct horse'))
    await installSuccessor(home)
    expect((await load({ password: 'correct horse' })).identity.publicKey).toBe(publicKey)
  })
})

it('gives an identity that is saved nowhere', async () => {
  const identity = createEphemeralIdentity('svc')
  expect(identity.nodeId).toBe(`svc-${identity.publicKey.slice(0, 16)}`)
  expect(identity.ephemeral).toBe(true)
  expect(createEphemeralIdentity('svc').publicKey).not.toBe(identity.publicKey)
})

describe('the description for everyone', () => {
  const nothing = { node_id: null, public_key: null, encrypted: null, error: null }
  const known = { present: true, node_id: 'svc-8a88e3dd7409f195', public_key: PUBLIC_KEY, error: null }

  it('tells that there is none', async () => {
    expect(await describeIdentity(home)).toEqual({ ...nothing, present: false })
  })

  it('needs no password', async () => {
    await save(CONTRACT_FILE)
    expect(await describeIdentity(home)).toEqual({ ...known, encrypted: true })
  })

  it('tells that the key is open', async () => {
    await save(DEVELOPMENT_FILE)
    expect(await describeIdentity(home)).toEqual({ ...known, encrypted: false })
  })

  it('tells what is wrong', async () => {
    await save('{')
    const error = 'Invalid master password or damaged identity file: it is not JSON'
    expect(await describeIdentity(home)).toEqual({ ...nothing, present: true, error })
  })

  it('tells that the file cannot be read', async () => {
    await mkdir(identityPath(home), { recursive: true })
    expect((await describeIdentity(home)).error).toContain('EISDIR')
  })
})
