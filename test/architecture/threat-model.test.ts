import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

/** Every row of every table: what is tried, and the tests that try it. */
const rows = readFileSync(join(ROOT, 'docs/threat-model.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| Attacker has'))
  .map((line) => line.split(' | '))
  .map((cells) => ({ attack: cells[1] ?? '', tests: (cells[3] ?? '').replace(/ \|$/, '') }))

/** `path` · title; · another title of the same file; `path` · title. An ellipsis stands for what a table fills in. */
const namedTests = (text: string): readonly { readonly file: string; readonly titles: readonly string[] }[] =>
  text.split(/; (?=`)/).map((part) => {
    const [, file = '', rest = ''] = /^`([^`]+)`(.*)$/s.exec(part) ?? []
    return { file, titles: rest.split(/(?:^|;) ?· /).flatMap((title) => title.split(/…|; /)) }
  })

describe('docs/threat-model.md', () => {
  it('has rows', () => {
    expect(rows.length).toBeGreaterThan(50)
  })

  it.each(rows)('names the test of: $attack', ({ tests }) => {
    const named = namedTests(tests)
    expect(named.length).toBeGreaterThan(0)
    for (const { file, titles } of named) {
      expect(file).toMatch(/\.test\.ts$/)
      expect(existsSync(join(ROOT, file))).toBe(true)
      const source = readFileSync(join(ROOT, file), 'utf8')
      for (const title of titles.map((text) => text.trim()).filter((text) => text !== ''))
        expect(source).toContain(title)
    }
  })
})
