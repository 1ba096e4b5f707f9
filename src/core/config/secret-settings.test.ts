import { describe, expect, it } from 'vitest'
import { CONFIGURATION_KEYS } from './keys.ts'
import { recordedConfiguration } from './recorded.ts'
import type { JsonObject } from '../shared/json.ts'
import { configurationJsonSchema, secretSettings, type Configuration } from './schema.ts'
import { isRedactedSecret, isSecret, REDACTED, redactedConfiguration, secretTexts } from './secrets.ts'
import { valuesWithSecrets, SECRET } from './secret-settings.fixture.ts'
import { valueAt } from './values.ts'

const configuration = valuesWithSecrets() as unknown as Configuration
const settings = [...secretSettings()]

describe('secret settings', () => {
  it('are declared in the schema', () => {
    expect(Object.fromEntries(settings)).toEqual({
      'api.auth_token': 'value',
      'api.operator_token': 'value',
      'store.url': 'password',
      'store.checkpoint_webhook': 'path',
    })
  })

  it('are all that sound like one, and every address that may hold a password', () => {
    const suspicious = CONFIGURATION_KEYS.filter(
      ({ path }) =>
        /token|secret|password|private_key|api_key|webhook/i.test(path.at(-1) ?? '') || path.at(-1) === 'url',
    )
    expect(suspicious.map(({ path }) => path.join('.')).toSorted()).toEqual(
      settings.map(([key]) => key).toSorted(),
    )
  })

  it('that are never shown are write-only for forms', () => {
    const schema = configurationJsonSchema() as unknown as JsonObject
    const writeOnly = CONFIGURATION_KEYS.filter(({ path }) => {
      const found = valueAt(
        schema,
        path.flatMap((name) => ['properties', name]),
      )
      return (found as JsonObject)['writeOnly'] === true
    })
    expect(writeOnly.map(({ path }) => path.join('.'))).toEqual(
      settings.flatMap(([key, form]) => (form === 'value' ? [key] : [])),
    )
  })

  it.each(settings)('%s is hidden in what is shown and in what is recorded', (key) => {
    const path = key.split('.')
    expect(isSecret(path)).toBe(true)
    expect(JSON.stringify(valueAt(valuesWithSecrets(), path))).toContain(SECRET)
    const shown = redactedConfiguration(configuration)
    const value = valueAt(shown, path)
    expect(value).toContain(REDACTED)
    expect(isRedactedSecret(path, value as string)).toBe(true)
    expect(JSON.stringify([shown, recordedConfiguration(configuration)])).not.toContain(SECRET)
  })

  it.each(settings)('%s is known to logs and errors', (key) => {
    const texts = secretTexts((path) =>
      path.join('.') === key ? valueAt(valuesWithSecrets(), path) : undefined,
    )
    expect(texts.length).toBeGreaterThan(0)
    for (const text of texts) expect(text).toContain(SECRET)
  })

  it.each([
    ['', ''],
    ['https://hooks.example.com', 'https://hooks.example.com'],
    ['https://hooks.example.com/', 'https://hooks.example.com/'],
    ['https://hooks.example.com/a/b', `https://hooks.example.com/${REDACTED}`],
    ['https://hooks.example.com:8443/?key=1', `https://hooks.example.com:8443/${REDACTED}`],
    ['https://me:pw@hooks.example.com', `https://hooks.example.com/${REDACTED}`],
    ['https://hooks.example.com/#part', `https://hooks.example.com/${REDACTED}`],
    ['https://', REDACTED],
  ])('show the webhook %s as %s', (checkpoint_webhook, shown) => {
    const store = { ...configuration.store, checkpoint_webhook }
    expect(redactedConfiguration({ ...configuration, store }).store.checkpoint_webhook).toBe(shown)
  })
})
