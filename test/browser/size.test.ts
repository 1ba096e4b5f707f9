import { readdirSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const DIST = fileURLToPath(new URL('../../dashboard/dist/', import.meta.url))
const FIRST_LOAD_BYTES_MAX = 250_000

const html = (name: string): string => readFileSync(DIST + name, 'utf8')
const scripts = readdirSync(`${DIST}assets`).filter((name) => name.endsWith('.js'))

/** Files that the page references and their static imports: everything that loads before the app renders. */
const firstLoad = (): readonly string[] => {
  const found = new Set(
    [...html('index.html').matchAll(/\/assets\/([\w.-]+\.(?:js|css))/g)].map((match) => match[1] ?? ''),
  )
  for (const name of found) {
    if (!name.endsWith('.js')) continue
    for (const [, imported = ''] of readFileSync(`${DIST}assets/${name}`, 'utf8').matchAll(
      /from\s*["'`]\.\/([\w.-]+\.js)["'`]/g,
    ))
      found.add(imported)
  }
  return [...found]
}

describe('the built pages', () => {
  it(`load less than ${FIRST_LOAD_BYTES_MAX / 1000} kB (gzip) before the first chart`, () => {
    const parts = [...firstLoad()]
    // Adds the first page. The largest one counts.
    const rest = scripts.filter((name) => !parts.includes(name) && !isChart(name))
    const largest = Math.max(...rest.map((name) => statSync(`${DIST}assets/${name}.gz`).size))
    const bytes = parts.reduce((sum, name) => sum + statSync(`${DIST}assets/${name}.gz`).size, 0)
    expect(parts.length).toBeGreaterThan(1)
    expect(bytes + largest).toBeLessThan(FIRST_LOAD_BYTES_MAX)
  })

  it('load charts on demand', () => {
    expect(scripts.filter(isChart)).toHaveLength(1)
    expect(firstLoad().filter(isChart)).toEqual([])
  })

  it('contain nothing inline and refer to no other origin', () => {
    for (const name of ['index.html', 'sign-in.html']) {
      expect(html(name)).not.toMatch(/<style|style=|<script(?![^>]*src=)|\son\w+="/)
      expect(html(name)).not.toMatch(/https?:\/\//)
    }
  })
})

const isChart = (name: string): boolean => name.startsWith('time-chart')
