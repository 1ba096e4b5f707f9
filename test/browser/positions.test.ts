import { describe, expect, it } from 'vitest'
import { BROWSER, overflowsOn, PHONE, violationsOn } from './browser.fixture.ts'
import { openPositions } from './engine.fixture.ts'
import { useSignedInPage } from './signed-in-page.fixture.ts'

describe.skipIf(BROWSER === undefined)('the positions page', () => {
  const dashboard = useSignedInPage({ prepare: openPositions, path: '/positions' })
  const open = () => dashboard.page.getByRole('region', { name: 'Open positions' }).getByRole('table')
  const closed = () => dashboard.page.getByRole('region', { name: 'Closed positions' }).getByRole('table')

  it('shows open and closed positions', async () => {
    await open()
      .getByRole('row', { name: /ETH long/ })
      .waitFor()
    await closed()
      .getByRole('row', { name: /SOL long take profit/ })
      .waitFor()
    await dashboard.page.getByText('1 of 1 closed').waitFor()
    expect(await violationsOn(dashboard.page)).toEqual([])
  })

  it('shows the price, the reasons and the events of a trade', async () => {
    await closed().getByRole('button', { name: /SOL/ }).click()
    const sheet = dashboard.page.getByRole('dialog', { name: 'SOL long' })
    await sheet
      .getByRole('img', { name: /Price of SOL: entry at 100.*stop at.*target at.*exit at/ })
      .waitFor()
    await sheet.getByText('fan of SOL').waitFor()
    await sheet.getByRole('link', { name: /execution.position_closed.v1/ }).waitFor()
    expect(await sheet.getByRole('button', { name: 'Close position' }).count()).toBe(0)
    expect(await violationsOn(dashboard.page)).toEqual([])
    await dashboard.page.keyboard.press('Escape')
  })

  it('closes all also while they cannot be read, and says what is in the way', async () => {
    const { page, engine } = dashboard
    const refusal = { status: 403, json: { detail: 'The key may not read', code: 'auth.scope_missing' } }
    await page.route('**/api/v1/positions?*', (route) => route.fulfill(refusal))
    await page.goto(`${engine.dashboardUrl}/positions`)
    await page.getByText('Sign in with a token that may do this (auth.scope_missing).').first().waitFor()
    await page.getByRole('region', { name: 'Result' }).getByText('not known').waitFor()
    await page.getByRole('button', { name: 'Close all' }).click()
    await page.getByRole('dialog', { name: 'Close all open positions?' }).waitFor()
    await page.keyboard.press('Escape')
    await page.unroute('**/api/v1/positions?*')
    await page.goto(`${engine.dashboardUrl}/positions`)
  })

  it('closes all only with a reason and a typed word', async () => {
    await dashboard.page.getByRole('button', { name: 'Close all' }).click()
    const dialog = dashboard.page.getByRole('dialog')
    const confirm = dialog.getByRole('button', { name: 'Close all' })
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByLabel('Type CLOSE to confirm').fill('close')
    await confirm.click()
    await dashboard.page.getByText('No open positions').waitFor()
    await closed()
      .getByRole('row', { name: /ETH long manual/ })
      .waitFor()
    expect((await dashboard.engine.call('GET', '/positions')).body).toEqual([])
  })

  it('fits a phone and has no errors', async () => {
    await dashboard.page.setViewportSize(PHONE)
    expect(await overflowsOn(dashboard.page)).toBe(false)
    expect(dashboard.problems).toEqual([])
  })
})
