import type { JsonObject } from '../shared/json.ts'
import { asValues } from './layers.ts'
import { secretSettings } from './schema.ts'
import type { SecretForm } from './sections/kinds.ts'
import { DEFAULT_CONFIGURATION } from './validate.ts'
import { withValue } from './values.ts'

/** Part of every secret of `valuesWithSecrets`. */
export const SECRET = 'opensesame'

/** The defaults, with every secret setting set. */
export const valuesWithSecrets = (): JsonObject =>
  [...secretSettings()].reduce(
    (values, [key, form]) => withValue(values, key.split('.'), valueOf(key, form)),
    asValues(DEFAULT_CONFIGURATION),
  )

/** Value of the setting. The hosts in the addresses do not exist. */
export const valueOf = (key: string, form: SecretForm): string => {
  switch (form) {
    case 'value':
      return `${SECRET}-${key}-of-more-than-thirty-two-characters`
    case 'password':
      return `postgres://svc:${SECRET}@127.0.0.1:1/db?sslpassword=${SECRET}`
    case 'path':
      return `http://svc:${SECRET}@127.0.0.1:1/services/${SECRET}?key=${SECRET}`
  }
}
