import { describe, expect, it } from 'vitest'
import { BROWSER, follow, PAGES, takeScreenshot, settled } from './browser.fixture.ts'
import { useSignedInPage } from './signed-in-page.fixture.ts'

/** The empty states of every page. */
const EMPTY: Readonly<Record<string, readonly string[]>> = {
  Overview: ['No open positions', 'No alerts', 'No signals yet'],
  Signals: ['No signals yet'],
  Positions: ['No open positions', 'No closed positions'],
  Brain: ['No cycle yet', 'No intents yet', 'No convictions yet'],
  Contributors: ['local-operator'],
  Producers: ['No run yet'],
  Risk: ['Nothing to approve', 'No open orders', 'No symbol is blocked', 'Mode is paper', 'No venue'],
  Treasury: ['Nothing pending', 'No receipts yet'],
  Audit: ['in total'],
  Settings: ['Weights and risk limits in one step'],
}

describe.skipIf(BROWSER === undefined)('a dashboard without data', () => {
  const dashboard = useSignedInPage()

  it('explains on every page why it is empty', async () => {
    const { page } = dashboard
    for (const [path, title] of PAGES) {
      await follow(page, path)
      await settled(page, title)
      for (const text of EMPTY[title] ?? []) await page.getByText(text).first().waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)
      await takeScreenshot(page, `${title}-empty`)
    }
    expect(dashboard.problems).toEqual([])
  })

  it('keeps the last state while the service is down, and reconnects by itself', async () => {
    const { page, engine } = dashboard
    // Reloaded, so that other pages have no data yet.
    await page.goto(engine.dashboardUrl)
    await settled(page, 'Overview')
    await dashboard.restart(async () => {
      await page.getByText('No connection to the service').waitFor()
      await page
        .getByText(/^stale/)
        .first()
        .waitFor()
      await takeScreenshot(page, 'Overview-down')
      for (const title of ['Treasury', 'Producers']) {
        await page.getByRole('navigation').getByRole('link', { name: title }).click()
        await page.getByText('The service does not answer').first().waitFor()
        await page.getByText('The page retries automatically').first().waitFor()
      }
      await takeScreenshot(page, 'Producers-down')
    })
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByText('No run yet').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })
})
