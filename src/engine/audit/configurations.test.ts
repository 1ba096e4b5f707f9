import { beforeEach, expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../../core/config/validate.ts'
import { configurationHashInput } from '../../core/config/secrets.ts'
import { configDigitsOf } from '../../core/stored-commands.ts'
import { sha256Hex } from '../sha256.ts'
import { RecordedSettings } from './configurations.ts'

const PRESENT = sha256Hex(configurationHashInput(DEFAULT_CONFIGURATION))

let settings: RecordedSettings
beforeEach(() => {
  settings = new RecordedSettings(DEFAULT_CONFIGURATION)
})

const take = (config_hash: string, payload: object = {}, type = 'system.config_changed.v1'): void =>
  settings.take({ type, payload: { config_hash, configuration: {}, ...payload } })

it('takes the present settings for those of then where the log has none', () => {
  expect(settings.withDigits(configDigitsOf(PRESENT))).toMatchObject({ hash: PRESENT, isGuess: false })
  expect(settings.withDigits('a')).toMatchObject({ hash: PRESENT, isGuess: true })
})

it('finds recorded settings by the first digits of their hash', () => {
  for (const hash of ['a', 'b', `${'c'.repeat(16)}d`, 'b']) take(hash)
  for (const [digits, hash] of [
    ['a', 'a'],
    ['b', 'b'],
    ['c'.repeat(16), `${'c'.repeat(16)}d`],
  ] as const)
    expect(settings.withDigits(digits)).toMatchObject({ hash, isGuess: false })
})

it('reads the settings that were recorded', () => {
  take('a', { configuration: { risk: { max_leverage: 1 } } }, 'system.started.v1')
  expect(settings.withDigits('a').configuration.risk.max_leverage).toBe(1)
})

it('takes neither other events nor what cannot be read', () => {
  take('a', {}, 'system.dcg.v1')
  take('b', { configuration: { risk: { max_leverage: 'much' } } })
  expect([settings.withDigits('a').isGuess, settings.withDigits('b').isGuess]).toEqual([true, true])
})
