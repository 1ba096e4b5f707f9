import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CATALOGUE } from '../../src/core/events/catalogue.ts'

const page = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8')

const documented = new Map(
  [...page.matchAll(/^\| `([a-z_.0-9]+)` \| [^|]+ \| ([^|]+) \|$/gm)]
    .map(([, type = '', payload = '']) => [type, payload] as const)
    .filter(([type]) => type.includes('.')),
)

describe('docs/events.md', () => {
  it('lists exactly the types of the catalogue, in order', () => {
    expect([...documented.keys()]).toEqual(Object.keys(CATALOGUE).sort())
  })

  it.each(Object.entries(CATALOGUE))('names every member of %s', (type, schema) => {
    const words = documented.get(type)?.match(/[a-z_0-9]+/g) ?? []
    for (const member of Object.keys(schema.shape)) expect(words).toContain(member)
  })
})
