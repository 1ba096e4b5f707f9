import type { Route } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { BROWSER, follow, settled } from './browser.fixture.ts'
import { useSignedInPage } from './signed-in-page.fixture.ts'

describe.skipIf(BROWSER === undefined)('a page recovers', () => {
  const dashboard = useSignedInPage()
  const level = async (): Promise<unknown> =>
    ((await dashboard.engine.call('GET', '/kill-switch')).body as { level: number }).level

  it('from an answer that is older than the event that made it stale', async () => {
    const { page, engine } = dashboard
    let isHeld = false
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    const hold = async (route: Route): Promise<void> => {
      const response = await route.fetch()
      isHeld = true
      await released
      await route.fulfill({ response })
    }
    await page.route('**/api/v1/kill-switch', hold, { times: 1 })
    await follow(page, '/risk')
    await expect.poll(() => isHeld).toBe(true)
    await engine.call('POST', '/kill-switch', { body: { level: 1, reason: 'drill' } })
    await page.getByRole('button', { name: 'Kill switch L1 Caution' }).first().waitFor()
    release()
    const current = page
      .getByRole('region', { name: 'Kill switch', exact: true })
      .locator('[aria-current=true]')
    await expect.poll(() => current.textContent()).toContain('Caution')
    await engine.call('POST', '/kill-switch', { body: { level: 0, reason: 'over' } })
    await page.getByRole('button', { name: 'Kill switch L0 Normal' }).first().waitFor()
  })

  it('from a failure by itself, while the events still come', async () => {
    const { page } = dashboard
    const busy = { status: 503, json: { detail: 'The store is busy', code: 'store.busy' } }
    await page.route('**/api/v1/karma/receipts', (route) => route.fulfill(busy))
    await follow(page, '/treasury')
    await page.getByText('The store is busy').waitFor()
    await page.getByText('The page retries automatically').waitFor()
    await page.unroute('**/api/v1/karma/receipts')
    await page.getByText('No receipts yet').waitFor()
    await settled(page, 'Treasury')
  })

  it('from a network that was away, and sends nothing late that was pressed meanwhile', async () => {
    const { page } = dashboard
    await page.context().setOffline(true)
    await page.keyboard.press('k')
    const dialog = page.getByRole('dialog', { name: 'Kill switch' })
    await dialog.getByRole('button', { name: 'Raise' }).first().click()
    await page.getByRole('button', { name: 'Raise to 1' }).click()
    await dialog.getByRole('alert').getByText('The service does not answer').waitFor()
    await page.context().setOffline(false)
    // A delayed request of the first press would be answered before this one.
    await dialog.getByRole('button', { name: 'Raise' }).nth(1).click()
    await page.getByRole('button', { name: 'Raise to 2' }).click()
    await page.getByText('Kill switch is at 2').waitFor()
    expect(await level()).toBe(2)
    const { body } = await dashboard.engine.call('GET', '/events?type=system.kill_switch')
    const levels = (body as { items: { payload: { level: number } }[] }).items.map(
      ({ payload }) => payload.level,
    )
    expect(levels).toEqual([2, 0, 1])
  })
})
