import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { meaningOf, PROBLEM_CODES, statusOf } from './problems.ts'
import { problemsOf } from './openapi.ts'
import type { Route } from './route.ts'
import { ROUTES } from './routes/all.ts'

const page = readFileSync(new URL('../../../docs/http.md', import.meta.url), 'utf8')

/** The rows of the table whose head begins with this word, without their bars. */
const rowsBelow = (head: string): readonly string[] => {
  const table = page.split(`\n| ${head} |`)[1]?.split('\n\n')[0] ?? ''
  return table.split('\n').slice(2)
}

const rowOf = (route: Route): string => {
  const status = route.successStatus ?? 200
  const place = route.atRoot === true ? 'root ' : ''
  const path = `${place}\`${route.path.replaceAll(/:(\w+)/g, '{$1}')}\``
  const own = (route.problems ?? []).map((code) => `\`${code}\``).join(', ') || '–'
  return `| ${route.method} | ${path} | ${route.needs} | ${status} | ${own} | ${route.summary} |`
}

const byPath = (one: string, other: string): number => {
  const [first = '', second = ''] = [one, other].map((row) => row.split('|')[2] ?? '')
  return first === second ? 0 : first < second ? -1 : 1
}

describe('docs/http.md', () => {
  it('lists exactly the routes of the code, with their needs, status, errors and purpose', () => {
    expect(rowsBelow('Method')).toEqual(ROUTES.map(rowOf).sort(byPath))
  })

  it('lists exactly the codes of the code, with their status and meaning', () => {
    expect(rowsBelow('Code')).toEqual(
      PROBLEM_CODES.map((code) => `| \`${code}\` | ${statusOf(code)} | ${meaningOf(code)} |`),
    )
  })

  it('names every code that every endpoint can answer', () => {
    const everywhere = PROBLEM_CODES.filter((code) =>
      ROUTES.every((route) => problemsOf(route).includes(code)),
    )
    const paragraph = page.split('Every endpoint can also answer')[1]?.split('\n\n')[0] ?? ''
    expect([...paragraph.matchAll(/`([a-z_.]+)`/g)].map(([, code]) => code)).toEqual(everywhere)
  })
})
