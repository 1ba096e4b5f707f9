import { describe, expect, it } from 'vitest'
import { barAt } from '../../core/market/bars.fixture.ts'
import { timestampAt } from '../../core/shared/time.ts'
import { runBacktest } from '../recorded-feed.fixture.ts'
import { reportOf, type BacktestReport } from '../report.ts'
import { WARM_UP_BARS } from '../run.ts'
import { seeded } from '../seeded.fixture.ts'
import type { StrategyName } from '../strategies.ts'
import { html } from './markup.ts'
import { reportPage } from './page.ts'

const HOUR_MS = 3_600_000
const BEGIN_MS = Date.UTC(2026, 0, 1)

/** Hours of waves, so that trades are won and lost. */
const reportWith = async (strategy: StrategyName, hours = 900): Promise<BacktestReport> => {
  let before = 100
  const groups = Array.from({ length: WARM_UP_BARS + hours }, (_, index) => {
    const close = 100 + 15 * Math.sin(index / 15) + 5 * Math.sin(index / 4)
    const open = before
    before = close
    const [low, high] = [Math.min(open, close) * 0.995, Math.max(open, close) * 1.005]
    return [barAt(timestampAt(BEGIN_MS + index * HOUR_MS), close, { resolution_s: 3600, open, low, high })]
  })
  const { result } = await runBacktest(groups, { strategy, resetsDaily: true })
  const subject = {
    strategy,
    parameters: {},
    market: 'file',
    symbols: ['BTC'],
    seed: 1,
    resetsDaily: true,
    costs: { feeBps: 6, slippageBps: 5, fundingBps: null },
    trials: { count: 1, variance: null },
    version: '1.2.3',
    codeHash: 'c0de',
  } as const
  return reportOf(subject, result, () => seeded(1))
}

describe('a page', () => {
  it('shows everything that a report has', async () => {
    const report = await reportWith('momentum')
    expect(report.trades).toBeGreaterThan(10)
    const page = reportPage({ reports: [report], leftOut: ['line 7: no price'] })
    for (const heading of [
      'Equity in USD',
      'Drawdown',
      'Returns by month',
      'By symbol',
      'By side',
      'By exit',
      'By regime at entry',
      'Costs',
      '95 % intervals',
      'Daily returns',
      'Sharpe ratio of the last 30 days',
      'Trades',
      'The run',
    ]) {
      expect(page).toContain(`<h3>${heading}</h3>`)
    }
    expect(page).toContain(report.data_hash)
    expect(page).toContain('1.2.3')
    expect(page).toContain('sha256:c0de')
    expect(page).toContain('line 7: no price')
    expect(page.match(/<g class="trade/g)).toHaveLength(report.trades)
    expect(page).not.toMatch(/NaN|undefined|Infinity|\[object/)
  })

  it('compares strategies, with the market line once', async () => {
    const reports = [
      await reportWith('momentum'),
      await reportWith('ma_crossover'),
      await reportWith('hold', 10),
    ]
    const page = reportPage({ reports: reports.slice(0, 2), leftOut: [] })
    expect(page).toContain('<h2>Side by side</h2>')
    expect(page).toContain('<td class="text">hold</td>')
    expect(page).toContain('<td class="text">random momentum</td>')
    // A short run has no figures of a year, and a page all the same.
    const short = reportPage({ reports: reports.slice(2), leftOut: [] })
    expect(short).toContain('needs 30 days')
    expect(short).not.toMatch(/NaN|undefined|Infinity|\[object/)
  })

  it('runs nothing that stands in the data', async () => {
    const hostile = `"'><script>alert(1)</script><img src=x onerror=alert(1)>\u0000&lt;`
    const spoiled = (value: unknown): unknown => {
      if (typeof value === 'string') return hostile + value
      if (Array.isArray(value)) return value.map(spoiled)
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(
        Object.entries(value).map(([name, member]) => [
          KNOWN.has(name) ? name : hostile + name,
          spoiled(member),
        ]),
      )
    }
    const report = await reportWith('momentum')
    const KNOWN = new Set(
      namesIn({ ...report, held_back: {}, chart: { equity: [], candles: {} }, parameters: {} }),
    )
    const own = { ...report, held_back: { kelly: 3 }, parameters: { fast: 'x' } }
    KNOWN.add('equity').add('candles')
    const clean = reportPage({ reports: [own], leftOut: ['x'] })
    const page = reportPage({ reports: [spoiled(own) as BacktestReport], leftOut: [hostile] })
    expect(page).toContain('&#60;script&#62;')
    expect(page).not.toMatch(/<script|<img/i)
    const tagsOf = (text: string) => (text.match(/<[a-z]+/g) ?? []).filter((tag) => tag !== '<small')
    // Markup is what it was: no text became an element.
    expect(new Set(tagsOf(page))).toEqual(new Set(tagsOf(clean)))
    // Nor an attribute: inside of tags nothing of it is left outside of quotes.
    expect(page.replaceAll(/"[^"]*"/g, '""')).not.toMatch(/<[^>]*onerror/)
  })
})

const namesIn = (value: unknown): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap(namesIn)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => [name, ...namesIn(member)])
}

it('escapes what is put in, and leaves markup alone', () => {
  expect(html`<b>${'<i>'}</b>${html`<u>${1}</u>`}${[html`a`, html`b`]}`.markup).toBe(
    '<b>&#60;i&#62;</b><u>1</u>ab',
  )
  expect(html`<a title="${'" onclick="x\'`'}"></a>`.markup).toBe(
    '<a title="&#34; onclick=&#34;x&#39;&#96;"></a>',
  )
})
