import { describe, expect, it } from 'vitest'
import { expectNamedTests, rowsOf } from './named-tests.fixture.ts'

/** Every row of every table: what is tried, and the tests that try it. */
const rows = rowsOf('docs/threat-model.md', ['Attacker has']).map((cells) => ({
  attack: cells[1] ?? '',
  tests: cells[3] ?? '',
}))

describe('docs/threat-model.md', () => {
  it('has rows', () => {
    expect(rows.length).toBeGreaterThan(50)
  })

  it.each(rows)('names the test of: $attack', ({ tests }) => {
    for (const file of tests.matchAll(/`([^`]+)`/g)) expect(file[1]).toMatch(/\.test\.ts$/)
    expectNamedTests(tests)
  })
})
