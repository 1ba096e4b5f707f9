import { describe, expect, it } from 'vitest'
import { BROWSER, PAGES, photograph, settled } from './browser.ts'
import { onStage } from './stage.ts'

/** What each page says when nothing has happened yet: why, and what to do. */
const EMPTY: Readonly<Record<string, readonly string[]>> = {
  Overview: ['No open positions', 'No alerts', 'No signals yet'],
  Signals: ['No signals yet'],
  Positions: ['No open positions', 'No closed positions'],
  Brain: ['No cycle yet', 'No intents yet', 'Nothing judged yet'],
  Contributors: ['local-operator'],
  Producers: ['No run yet'],
  Risk: ['Nothing waits', 'No order is open', 'No symbol is blocked'],
  Treasury: ['Nothing waits', 'No receipts yet'],
  Audit: ['all there are'],
  Settings: ['Weights and risk limits in one step'],
}

describe.skipIf(BROWSER === undefined)('a dashboard with nothing to show', () => {
  const stage = onStage()

  it('says on every page why it is empty', async () => {
    const { page, engine } = stage
    for (const [path, title] of PAGES) {
      await page.goto(engine.dashboardUrl + path)
      await settled(page, title)
      for (const text of EMPTY[title] ?? []) await page.getByText(text).first().waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)
      await photograph(page, `${title}-empty`)
    }
    expect(stage.complaints).toEqual([])
  }, 90_000)

  it('stays where it is while nobody answers, says so, and goes on by itself', async () => {
    const { page, engine } = stage
    // Fresh, so that what is not looked at has no data yet.
    await page.goto(engine.dashboardUrl)
    await settled(page, 'Overview')
    await stage.restart(async () => {
      await page.getByText('The line to the service is down').waitFor()
      await page
        .getByText(/^stale/)
        .first()
        .waitFor()
      await photograph(page, 'Overview-down')
      for (const title of ['Treasury', 'Producers']) {
        await page.getByRole('navigation').getByRole('link', { name: title }).click()
        await page.getByText('The service does not answer').first().waitFor()
        await page.getByText('The page tries again by itself').first().waitFor()
      }
      await photograph(page, 'Producers-down')
    })
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByText('No run yet').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  }, 90_000)
})
