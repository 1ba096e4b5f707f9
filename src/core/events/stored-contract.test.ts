import { expect, it } from 'vitest'
import { z } from 'zod'
import { typeText } from '../../../test/schema-text.fixture.ts'
import { SIGNAL_TYPES } from '../signal-types/all.ts'
import { CATALOGUE } from './catalogue.ts'

const typeOf = (schema: z.ZodType): string => {
  const { $schema: _dialect, ...written } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return typeText(written)
}

// A change is recorded by `npx vitest run src/core/events/stored-contract.test.ts -u`.
it('the payloads of events, as stored-contract.txt records them, change only on purpose', async () => {
  const events = Object.entries(CATALOGUE).map(([type, payload]) => `${type} ${typeOf(payload)}`)
  const signals = SIGNAL_TYPES.map(({ type, payload, domain, producer }) =>
    [type, domain ?? '-', producer?.name ?? '-', producer?.schedule ?? '-', typeOf(payload)].join(' '),
  )
  await expect([...events, ...signals, ''].join('\n')).toMatchFileSnapshot('./stored-contract.txt')
})
