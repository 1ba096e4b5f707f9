import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

/** The rows of all tables of a document that begin with neither of these headings, cell by cell. */
export const rowsOf = (document: string, headings: readonly string[]): readonly (readonly string[])[] =>
  readFileSync(join(ROOT, document), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !headings.some((heading) => line.startsWith(`| ${heading}`)))
    .map((line) => line.slice(2).replace(/ \|$/, '').split(' | '))

/**
 * `path` · title; · another title of the same file; `path` · title. An ellipsis stands for what a table fills in. Each
 * has to be there.
 */
export const expectNamedTests = (text: string): void => {
  const named = text.split(/; (?=`)/).map((part) => {
    const [, file = '', rest = ''] = /^`([^`]+)`(.*)$/s.exec(part) ?? []
    return { file, titles: rest.split(/(?:^|;) ?· /).flatMap((title) => title.split(/…|; /)) }
  })
  expect(named.length).toBeGreaterThan(0)
  for (const { file, titles } of named) {
    expect(file).toMatch(/\.(test|contract)\.ts$/)
    expect(existsSync(join(ROOT, file)), file).toBe(true)
    const source = readFileSync(join(ROOT, file), 'utf8')
    for (const title of titles.map((one) => one.trim()).filter((one) => one !== ''))
      expect(source).toContain(title)
  }
}
