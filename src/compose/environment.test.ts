import { expect, it } from 'vitest'
import { environmentOf, knownSecretsOf } from './environment.ts'

it.each([
  ['postgres://svc:opensesame@db/signals', 'opensesame'],
  ['postgres://svc:open%20sesame@db/signals', 'open sesame'],
  // The percent sign is not encoded.
  ['postgres://svc:100%sesame@db/signals', '100%sesame'],
])('knows the password in %s', (url, password) => {
  expect(knownSecretsOf(environmentOf('/nowhere', { SVC_STORE__URL: url }, 'test'), null)).toContain(password)
})
