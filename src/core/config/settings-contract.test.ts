import { expect, it } from 'vitest'
import { typeText } from '../../../test/schema-text.fixture.ts'
import { configurationJsonSchema } from './schema.ts'

// A change is recorded by `npx vitest run src/core/config/settings-contract.test.ts -u`.
it('the settings and their defaults, as settings-contract.txt records them, change only on purpose', async () => {
  await expect(`${typeText(configurationJsonSchema())}\n`).toMatchFileSnapshot('./settings-contract.txt')
})
