import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { redactText } from '../../../core/operations/redaction.ts'
import { SecretMissingError } from '../../../ports/secrets.ts'
import { createSecrets } from './secrets.ts'
import { VaultUnreadableError } from './vault.ts'
import { createVault, type Vault } from './vault.ts'

let home: string
const vaultWith = (password: string | undefined): Vault => createVault({ home, password, clock: Date })
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'secrets-'))
  await vaultWith('right').set('venue.api_key', 'from the vault')
})
afterAll(() => rm(home, { recursive: true }))

it('takes the variable of that very name first, then its usual form, then the vault', async () => {
  const vault = vaultWith('right')
  const both = { 'venue.api_key': 'exact', VENUE_API_KEY: 'usual' }
  expect(await createSecrets(both, vault).get('venue.api_key')).toBe('exact')
  expect(await createSecrets({ VENUE_API_KEY: 'usual' }, vault).get('venue.api_key')).toBe('usual')
  expect(await createSecrets({}, vault).get('venue.api_key')).toBe('from the vault')
})

it('takes an empty variable as none', async () => {
  const environment = { 'venue.api_key': '', VENUE_API_KEY: '' }
  expect(await createSecrets(environment, vaultWith('right')).get('venue.api_key')).toBe('from the vault')
})

it('writes anything but letters and digits as underscores', async () => {
  const environment = { A_B_C_1: 'x' }
  expect(await createSecrets(environment, vaultWith(undefined)).get('a.b-c/1')).toBe('x')
})

it('names the secret and the places, in words that redaction leaves alone', async () => {
  const missing = createSecrets({}, vaultWith('right')).get('other.api_key')
  await expect(missing).rejects.toBeInstanceOf(SecretMissingError)
  const error: unknown = await missing.catch((reason: unknown) => reason)
  expect(String(error)).toBe(
    'SecretMissingError: secret other.api_key not found in the environment (other.api_key, ' +
      'OTHER_API_KEY) or the vault: set it with svc vault set other.api_key',
  )
  expect(redactText(String(error), [])).toBe(String(error))
})

it('reports a locked vault', async () => {
  const missing = createSecrets({}, vaultWith(undefined)).get('venue.api_key')
  await expect(missing).rejects.toThrow('the vault (locked, SVC_MASTER_PASSWORD is not set)')
})

it('does not take a vault that cannot be opened for an empty one', async () => {
  const broken = createSecrets({}, vaultWith('wrong')).get('venue.api_key')
  await expect(broken).rejects.toBeInstanceOf(VaultUnreadableError)
})
