import { describe, expect, it } from 'vitest'
import {
  BROWSER,
  overflowsOn,
  repeatedRegionsOn,
  settled,
  takeScreenshot,
  violationsOn,
} from './browser.fixture.ts'
import { useSignedInPage } from './signed-in-page.fixture.ts'

/** When it is started, when its sheet opens, and when it has ended. */
const REQUESTS_PER_RUN = 4

describe.skipIf(BROWSER === undefined)('the page about backtests', () => {
  const dashboard = useSignedInPage({ path: '/backtests' })

  const start = async (parameters: string, what = 'backtest'): Promise<void> => {
    const { page } = dashboard
    await page.getByRole('button', { name: 'New backtest' }).click()
    const dialog = page.getByRole('dialog', { name: 'New backtest' })
    await dialog.getByLabel('What').selectOption(what)
    await dialog.getByLabel('Strategy').fill('ma_crossover')
    await dialog.getByLabel('Parameters').fill(parameters)
    await dialog.getByLabel('Symbol').fill('BTC')
    await dialog.getByLabel('From').fill('2026-01-05')
    await dialog.getByLabel('To').fill('2026-01-09')
    await dialog.getByRole('button', { name: 'Start' }).click()
  }

  it('says what a backtest is where there is none, and what was wrong with a request', async () => {
    const { page } = dashboard
    await page.getByText('No backtest yet').waitFor()
    await start('quick=1')
    const dialog = page.getByRole('dialog', { name: 'New backtest' })
    await dialog.getByRole('alert').getByText('no parameter is named quick').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
  })

  it('starts runs, follows them, and shows the report of each with a plain verdict', async () => {
    const { page } = dashboard
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    for (const parameters of ['fast=5 slow=20', 'fast=8 slow=30']) {
      await start(parameters)
      const sheet = page.getByRole('dialog', { name: 'Backtest' })
      await sheet.getByText(/^no edge found: \d+ trades in \d+ days? are too few to tell/).waitFor()
      await sheet.getByRole('img', { name: /^Gain over time, [+−]?\d/ }).waitFor()
      await sheet.getByRole('region', { name: 'Closed trades of the backtest' }).waitFor()
      expect(await violationsOn(page)).toEqual([])
      await page.keyboard.press('Escape')
    }
    const rows = page.getByRole('region', { name: 'Backtests and sweeps, newest first' })
    await rows
      .getByRole('row', { name: /fast=8 slow=30/ })
      .getByText('done')
      .waitFor()
    expect(await repeatedRegionsOn(page)).toEqual([])
    // The stream reports the progress, so the list is not polled.
    const lists = asked.filter((path) => path.endsWith('/api/v1/backtests'))
    expect(lists.length).toBeLessThanOrEqual(2 * REQUESTS_PER_RUN)
  })

  it('says why a trade was opened, and leads back to the run', async () => {
    const { page } = dashboard
    await page
      .getByRole('row', { name: /fast=5 slow=20/ })
      .getByRole('button')
      .first()
      .click()
    const trades = page.getByRole('region', { name: 'Closed trades of the backtest' })
    await trades.getByRole('button', { name: /^BTC/ }).first().click()
    const sheet = page.getByRole('dialog', { name: /^BTC (long|short)/ })
    await sheet.getByRole('heading', { name: 'Why it was opened' }).waitFor()
    await sheet.getByText(/^ma_crossover: (long|short) BTC/).waitFor()
    await sheet.getByText(/of equity, stop [\d.]+ ?%, target/).waitFor()
    await sheet.getByText(/^set by /).waitFor()
    expect(await violationsOn(page)).toEqual([])
    for (const width of [1440, 375]) {
      await page.setViewportSize({ width, height: 900 })
      expect(await overflowsOn(page)).toBe(false)
      await takeScreenshot(page, `backtests-trade-${width}`)
    }
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Backtest' }).waitFor()
    await page.keyboard.press('Escape')
  })

  it('shows a sweep with what is left after the correction', async () => {
    const { page } = dashboard
    await start('fast=4,6 slow=25', 'sweep')
    const sheet = page.getByRole('dialog', { name: 'Backtest' })
    await sheet.getByText(/after correction for 2 parameter sets/).waitFor()
    await sheet.getByRole('row', { name: /fast=4 slow=25/ }).waitFor()
    expect(await violationsOn(page)).toEqual([])
    await takeScreenshot(page, 'backtests-sweep')
    await page.keyboard.press('Escape')
  })

  it('compares several', async () => {
    const { page } = dashboard
    for (const name of ['Compare ma_crossover fast=5 slow=20', 'Compare ma_crossover fast=8 slow=30']) {
      await page.getByRole('checkbox', { name }).check()
    }
    const comparison = page.getByRole('region', { name: 'Comparison' })
    await comparison.getByRole('row', { name: /fast=5 slow=20/ }).waitFor()
    await comparison.getByRole('img', { name: /^Gain over time: A [+−]?\d.*, B [+−]?\d/ }).waitFor()
  })

  it.each([
    [320, 'light'],
    [375, 'dark'],
    [768, 'light'],
    [1440, 'dark'],
  ] as const)('fits on a screen of %i px, %s', async (width, colorScheme) => {
    const { page } = dashboard
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 900 })
    await settled(page, 'Backtests')
    expect(await overflowsOn(page)).toBe(false)
    expect(await violationsOn(page)).toEqual([])
    await takeScreenshot(page, `backtests-${width}`)
  })

  it('opens a report from the list on a phone, and forgets a run on request', async () => {
    const { page, problems } = dashboard
    await page.setViewportSize({ width: 320, height: 700 })
    await page
      .getByRole('row', { name: /fast=5 slow=20/ })
      .first()
      .getByRole('button')
      .first()
      .click()
    const sheet = page.getByRole('dialog', { name: 'Backtest' })
    await sheet.getByText(/^no edge found/).waitFor()
    expect(await overflowsOn(page)).toBe(false)
    await takeScreenshot(page, 'backtests-report-320')
    await sheet.getByRole('button', { name: 'Forget' }).click()
    await page
      .getByRole('dialog', { name: 'Forget this run?' })
      .getByRole('button', { name: 'Forget' })
      .click()
    await page.getByText('The run is forgotten').waitFor()
    expect(problems).toEqual([])
  })
})
