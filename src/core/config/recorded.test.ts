import { describe, expect, it } from 'vitest'
import { configurationFrom, recordedConfiguration } from './recorded.ts'
import { asValues } from './layers.ts'
import { DEFAULT_CONFIGURATION, validateValues } from './validate.ts'
import { mergeValues } from './values.ts'
import type { JsonObject } from '../shared/json.ts'

const configurationWith = (values: JsonObject) => {
  const validated = validateValues(mergeValues(asValues(DEFAULT_CONFIGURATION), values))
  if (validated.status === 'invalid') throw new Error(JSON.stringify(validated.faults))
  return validated.configuration
}

describe('the configuration in the log', () => {
  it('is nothing for the defaults', () => {
    expect(recordedConfiguration(DEFAULT_CONFIGURATION)).toEqual({})
    expect(configurationFrom({})).toEqual(DEFAULT_CONFIGURATION)
  })

  it('is enough to decide by', () => {
    const changed = configurationWith({
      brain: { min_domains: 1, caps: { crisis: 3 } },
      universe: { symbols: ['BTC'] },
      trace: { session_ttl_hours: 5 },
    })
    const recorded = JSON.parse(JSON.stringify(recordedConfiguration(changed))) as unknown
    expect(recorded).toEqual({
      brain: { min_domains: 1, caps: { crisis: 3 } },
      universe: { symbols: ['BTC'] },
      trace: { session_ttl_hours: 5 },
    })
    expect(configurationFrom(recorded)).toEqual(changed)
  })

  it('names no secret, no place and no file', () => {
    const changed = configurationWith({
      api: { auth_token: 'a-token-of-more-than-thirty-two-characters' },
      store: { url: 'postgres://me:secret@host/db' },
      market: { feed: 'file', file: '/home/ann/bars.csv' },
      identity: { node_prefix: 'ann' },
    })
    const text = JSON.stringify(recordedConfiguration(changed))
    expect(text).toContain('"feed":"file"')
    for (const word of ['a-token', 'postgres', '/home/ann', 'node_prefix']) expect(text).not.toContain(word)
  })

  it('cannot be read from rubbish, and takes no settings of the service', () => {
    for (const rubbish of [null, 3, 'x', [], { brain: { min_domains: 'many' } }, { risk: null }])
      expect(configurationFrom(rubbish)).toBeNull()
    expect(configurationFrom({ api: { port: 1 }, unknown: {} })).toEqual(DEFAULT_CONFIGURATION)
  })
})
