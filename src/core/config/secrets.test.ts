import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  configurationHashInput,
  isRedactedSecret,
  isSecret,
  REDACTED,
  redactedConfiguration,
} from './secrets.ts'
import { DEFAULT_CONFIGURATION } from './validate.ts'

const withUrl = (url: string) => ({
  ...DEFAULT_CONFIGURATION,
  store: { ...DEFAULT_CONFIGURATION.store, url },
})

describe('redactedConfiguration', () => {
  it('shows that a token is set, not which, and shows an empty one as empty', () => {
    const api = { ...DEFAULT_CONFIGURATION.api, auth_token: 'hunter2' }
    const shown = redactedConfiguration({ ...DEFAULT_CONFIGURATION, api })
    expect(shown.api.auth_token).toBe(REDACTED)
    expect(shown.api.operator_token).toBe('')
    expect({ ...shown, api }).toStrictEqual({ ...DEFAULT_CONFIGURATION, api })
  })

  it.each([
    ['', ''],
    ['postgres://host/db', 'postgres://host/db'],
    ['postgres://host:5432/db', 'postgres://host:5432/db'],
    ['postgres://user@host/db', 'postgres://user@host/db'],
    ['postgres://user:pw@host:5432/db', `postgres://user:${REDACTED}@host:5432/db`],
    ['postgres://user:p@w@host/db', `postgres://user:${REDACTED}@host/db`],
    ['postgres://:pw@host/db', `postgres://:${REDACTED}@host/db`],
    [
      'postgresql:///db?host=/tmp&password=pw&user=x',
      `postgresql:///db?host=/tmp&password=${REDACTED}&user=x`,
    ],
    ['postgres://u:pw@h/db?sslpassword=pw2', `postgres://u:${REDACTED}@h/db?sslpassword=${REDACTED}`],
  ])('shows %s as %s', (url, shown) => {
    expect(redactedConfiguration(withUrl(url)).store.url).toBe(shown)
  })

  it('never shows a password, whatever characters it has', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 3 }), (password) => {
        const secret = `s3cr3t${password}`
        expect(redactedConfiguration(withUrl(`postgres://user:${secret}@host/db`)).store.url).toBe(
          `postgres://user:${REDACTED}@host/db`,
        )
      }),
    )
  })
})

describe('secrets', () => {
  it('are known by the name of the key', () => {
    expect(isSecret(['api', 'auth_token'])).toBe(true)
    expect(isSecret(['store', 'url'])).toBe(true)
    expect(isSecret(['api', 'port'])).toBe(false)
    expect(isRedactedSecret(['api', 'auth_token'], REDACTED)).toBe(true)
    expect(isRedactedSecret(['store', 'url'], `postgres://u:${REDACTED}@h`)).toBe(true)
    expect(isRedactedSecret(['karma', 'treasury_address'], REDACTED)).toBe(false)
    expect(isRedactedSecret(['api', 'auth_token'], 5)).toBe(false)
  })

  it('do not change what is hashed', () => {
    const api = { ...DEFAULT_CONFIGURATION.api, auth_token: 'one' }
    const other = { ...DEFAULT_CONFIGURATION.api, auth_token: 'two' }
    const input = configurationHashInput({ ...DEFAULT_CONFIGURATION, api })
    expect(configurationHashInput({ ...DEFAULT_CONFIGURATION, api: other })).toBe(input)
    expect(configurationHashInput(DEFAULT_CONFIGURATION)).not.toBe(input)
    expect(input).toMatch(/^\{"alerts":\{"repeat_seconds":900\},"api":\{"auth_token":"\*\*\*REDACTED\*\*\*"/)
  })
})
