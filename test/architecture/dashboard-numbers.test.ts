import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  formatMember,
  formatPercent,
  formatPercentPoints,
  formatReason,
} from '../../dashboard/src/ui/format.ts'
import { startTestServer, type TestServer } from '../../src/surfaces/http/test-server.fixture.ts'

/**
 * Every member of a response that ends in `_pct` is a share (contract.md): 0.031 is 3.1 %. A new member fails here
 * until a developer has checked its meaning and its display on the pages (test/browser/numbers.test.ts).
 */
const SHARES = [
  'band_pct',
  'daily_loss_limit_pct',
  'l1_daily_loss_pct',
  'l1_fill_divergence_pct',
  'l2_portfolio_heat_pct',
  'l3_max_drawdown_pct',
  'max_bar_move_pct',
  'max_drawdown_pct',
  'max_entry_drift_pct',
  'max_portfolio_heat_pct',
  'max_position_pct',
  'max_price_difference_pct',
  'return_pct',
  'size_pct',
  'stop_loss_pct',
  'take_profit_pct',
  'tier_size_pct',
  'time_stop_loss_pct',
]

const SOURCES = fileURLToPath(new URL('../../dashboard/src/', import.meta.url))
const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && !/\.test\.|generated/.test(name))
  .map((name) => ({ name: name.replaceAll('\\', '/'), text: readFileSync(SOURCES + name, 'utf8') }))

/** Lines that match, outside of the one module that makes text of numbers. */
const linesWith = (pattern: RegExp): readonly string[] =>
  sources
    .filter(({ name }) => name !== 'ui/format.ts')
    .flatMap(({ name, text }) =>
      text
        .split('\n')
        .filter((line) => pattern.test(line))
        .map((line) => `${name}: ${line.trim()}`),
    )

describe('percentages of the API', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer()
  })
  afterAll(() => server.close())

  it('are known, every one of them', async () => {
    const document = JSON.stringify((await server.callRoot('GET', '/openapi.json', { token: null })).body)
    const members = new Set([...document.matchAll(/"([a-z0-9_]+_pct)":\{/g)].map(([, name = '']) => name))
    expect([...members].sort()).toEqual(SHARES)
  })

  it.each(SHARES)('%s reads as a percentage of a share', (name) => {
    expect(formatMember(name, -0.014)).toBe(`${name.slice(0, -4).replaceAll('_', ' ')} −1.40 %`)
  })
})

describe('one module makes text of numbers', () => {
  it('knows shares and percentages', () => {
    expect([formatPercent(-0.014), formatPercentPoints(-1.4)]).toEqual(['−1.40 %', '−1.40 %'])
    expect(formatMember('funding_annualized', 12)).toBe('funding annualized 12.00 %')
    expect(formatReason('max_drawdown_pct=0.3001 and stale_cycles=2')).toBe(
      'max drawdown 30.01 % and stale cycles 2',
    )
  })

  it('and no other file does', () => {
    expect(linesWith(/\.toFixed\(|\.toPrecision\(|toLocaleString\(|Intl\.NumberFormat/)).toEqual([])
  })

  it('writes every percent sign', () => {
    // `%` without a space is a length in CSS or a remainder.
    expect(linesWith(/[}\d] %[`'"<)]/)).toEqual([])
  })

  it('gets shares as they are, never as plain numbers', () => {
    expect(linesWith(/format(Number|Fixed|Count|Quantity)\([^)]*_pct/)).toEqual([])
    expect(linesWith(/<(Score|Count|Usd)\b[^>]*_pct|_pct, (Score|Count|Usd)\b/)).toEqual([])
  })
})
