import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../../src/core/config/validate.ts'
import { timestampOf } from '../../src/core/shared/brand.ts'
import { usdFrom } from '../../src/core/shared/money.ts'
import { kellyEstimate } from '../../src/core/trading/risk/kelly.ts'

const page = readFileSync(new URL('../../docs/risk.md', import.meta.url), 'utf8')
const [, table = ''] = page.split('\n| Wins | Losses |')
const rows = [...table.matchAll(/^\| (\d+) \| (\d+) \| ([\d.]+) \| ([\d.]+) \|$/gm)]

it('docs/risk.md has examples', () => {
  expect(rows.length).toBeGreaterThan(4)
})

it.each(rows.map(([, ...cells]) => cells.map(Number)))(
  'docs/risk.md: %d wins and %d losses with payoff %d',
  (wins = 0, losses = 0, payoff = 0, stake = 0) => {
    const returns = [...Array<number>(wins).fill(payoff / 100), ...Array<number>(losses).fill(-0.01)]
    const at = timestampOf('2026-02-19T00:00:00.000Z')
    const closes = returns.map((netReturn) => ({ at, net: usdFrom(100 * netReturn), netReturn }))
    const now = timestampOf('2026-02-20T00:00:00.000Z')
    expect(kellyEstimate(closes, now, DEFAULT_CONFIGURATION.risk.kelly).stake).toBeCloseTo(stake, 9)
  },
)
