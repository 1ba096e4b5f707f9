import { comparisonOf } from '../comparison.ts'
import type { BacktestReport } from '../report.ts'
import { HOLD } from '../../core/strategies/built-in.ts'
import { lineChart, placed, timeLabels, type ChartLine } from './charts.ts'
import { html, NOTHING, percentText, tableOf, timeText, toned, decimalText, type Html } from './markup.ts'
import { reportSections } from './sections.ts'
import { STYLE } from './style.ts'

export interface ReportPage {
  readonly reports: readonly BacktestReport[]
  /** Data that could not be used. */
  readonly leftOut: readonly string[]
}

/** The report of one or more runs as a single page, without scripts or network access. */
export const reportPage = ({ reports, leftOut }: ReportPage): string => {
  const title = `Backtest of ${reports.map(({ strategy }) => strategy).join(', ')}`
  const [first] = reports
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${title}</title>
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <style>
          ${{ markup: STYLE }}
        </style>
      </head>
      <body>
        <header>
          <h1>${title}</h1>
          <p class="quiet">
            ${first === undefined ? '' : `${first.symbols.join(', ')} · ${timeText(first.from)} to ${timeText(first.to)} UTC · ${first.bars} bars of ${first.bar_seconds ?? 0} seconds`}
          </p>
        </header>
        <main>
          ${reports.length > 1 ? comparisonSection(reports) : NOTHING}
          ${reports.map((report) => reportSections(report, reports.length > 1))}
          ${
            leftOut.length === 0
              ? NOTHING
              : html`<h2>Left out of the data</h2>
                  <ul>
                    ${leftOut.map((text) => html`<li>${text}</li>`)}
                  </ul>`
          }
        </main>
        <footer>
          Signal Engine ${first?.engine_version ?? ''}. Past results of a rule on one market say little about
          its future.
        </footer>
      </body>
    </html> `
  // Indentation would be a third of a large report, and helps only readers of the source.
  return page.markup.replaceAll(/\n\s+/g, '\n')
}

const comparisonSection = (reports: readonly BacktestReport[]): Html => {
  const lines = reports.map(({ strategy, chart }, index): ChartLine => ({
    name: strategy,
    tone: TONES[index % TONES.length] ?? 'tone0',
    points: placed(chart.equity.map(([ms, equity]) => [ms, equity])),
  }))
  const [first] = reports
  const hold: ChartLine = {
    name: HOLD,
    tone: 'tone1',
    points: placed((first?.chart.equity ?? []).map(([ms, , value]) => [ms, value])),
  }
  return html`<h2>Side by side</h2>
    ${tableOf('Strategies side by side', comparisonOf(reports), [
      { title: 'Strategy', cell: ({ strategy }) => strategy, isText: true },
      { title: 'Return', cell: ({ total_return: value }) => toned(value, percentText(value)) },
      { title: 'CAGR', cell: ({ cagr }) => percentText(cagr) },
      { title: 'Sharpe', cell: ({ sharpe }) => decimalText(sharpe) },
      { title: 'Drawdown', cell: ({ max_drawdown }) => percentText(max_drawdown) },
      { title: 'Trades', cell: ({ trades }) => trades ?? '' },
      {
        title: 'Beats random',
        cell: ({ beats_random }) => (beats_random === null ? '' : percentText(beats_random, 0)),
      },
    ])}
    ${lineChart({
      label: 'Equity of all strategies and of holding the market',
      lines: reports.some(({ strategy }) => strategy === HOLD) ? lines : [...lines, hold],
      xLabels: timeLabels(first?.from ?? null, first?.to ?? null),
      textOf: (value) => value.toLocaleString('en-US', { maximumFractionDigits: 2 }),
    })}`
}

const TONES = ['tone0', 'tone2', 'tone4', 'tone5', 'tone3'] as const
