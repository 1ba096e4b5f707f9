import { beforeEach, expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../../core/config/validate.ts'
import { configurationHashInput } from '../../core/config/secrets.ts'
import { sha256Hex } from '../sha256.ts'
import { RecordedSettings } from './configurations.ts'

const PRESENT = sha256Hex(configurationHashInput(DEFAULT_CONFIGURATION))

let settings: RecordedSettings
beforeEach(() => {
  settings = new RecordedSettings(DEFAULT_CONFIGURATION)
})

const take = (config_hash: string, payload: object = {}, type = 'system.config_changed.v1'): void =>
  settings.take({ type, payload: { config_hash, configuration: {}, ...payload } })
const hashes = (hash: string | null): readonly string[] => settings.candidates(hash).map((one) => one.hash)

it('takes the present settings for those of then where the log has none', () => {
  expect(settings.candidates(null)).toMatchObject([{ hash: PRESENT, isGuess: true }])
  expect(settings.candidates(PRESENT)).toMatchObject([{ hash: PRESENT, isGuess: false }])
  expect(settings.candidates('a')).toEqual([])
})

it('has the newest five first, each once, and older ones by their hash', () => {
  for (const hash of ['a', 'b', 'c', 'd', 'e', 'f', 'b']) take(hash)
  expect(hashes(null)).toEqual(['b', 'f', 'e', 'd', 'c'])
  expect(settings.candidates('a')).toMatchObject([{ hash: 'a', isGuess: false }])
})

it('reads the settings and the release that were recorded', () => {
  expect(settings.version).toBe('')
  take('a', { version: '1.2.3', configuration: { risk: { max_leverage: 1 } } }, 'system.started.v1')
  expect(settings.version).toBe('1.2.3')
  expect(settings.candidates('a')[0]?.configuration.risk.max_leverage).toBe(1)
  take('b')
  expect(settings.version).toBe('1.2.3')
})

it('takes neither other events nor what cannot be read', () => {
  take('a', { version: '9' }, 'system.dcg.v1')
  take('b', { configuration: { risk: { max_leverage: 'much' } } })
  settings.take({ type: 'system.started.v1', payload: { version: 7, configuration: {} } })
  expect([settings.version, hashes(null)]).toEqual(['', [PRESENT]])
})
