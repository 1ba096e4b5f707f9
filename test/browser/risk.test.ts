import type { Route } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { eventsOf } from '../interface/acts.ts'
import { BROWSER, overflowsOn, PHONE, violationsOn } from './browser.fixture.ts'
import { twoIntents } from './engine.fixture.ts'
import { useSignedInPage } from './signed-in-page.fixture.ts'

/** Intents of the largest tier need approval, on paper too. */
const NEEDS_APPROVAL = { SVC_EXECUTION__REQUIRE_APPROVAL: 'true' }

describe.skipIf(BROWSER === undefined)('the risk page', () => {
  const dashboard = useSignedInPage({ variables: NEEDS_APPROVAL, prepare: twoIntents, path: '/risk' })
  const answer = async (path: string): Promise<unknown> => (await dashboard.engine.call('GET', path)).body
  const panel = (name: string) => dashboard.page.getByRole('region', { name, exact: true })

  it('approves and denies intents', async () => {
    await panel('Waiting for approval').getByText('2 waiting').waitFor()
    await panel('Waiting for approval')
      .getByRole('button', { name: /^Approve long ETH/ })
      .click()
    await dashboard.page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
    await expect.poll(() => answer('/positions')).toMatchObject([{ asset: 'ETH' }])
    await panel('Waiting for approval')
      .getByRole('button', { name: /^Deny long SOL/ })
      .click()
    await dashboard.page.getByLabel('Reason').fill('one is enough')
    await dashboard.page.getByRole('dialog').getByRole('button', { name: 'Deny' }).click()
    await panel('Waiting for approval').getByText('Nothing to approve').waitFor()
    expect(await answer('/intents?status=rejected')).toMatchObject([
      { symbol: 'SOL', reasons: ['approval_denied'] },
    ])
  })

  it('shows values beside their limits, and orders', async () => {
    const heat = dashboard.page.getByRole('meter', { name: /^Heat/ })
    await expect.poll(() => heat.getAttribute('aria-valuetext')).toMatch(/^0\.\d+ %; entries stop at 5\.40 %/)
    await dashboard.page.getByRole('meter', { name: 'Largest position, ETH' }).waitFor()
    await dashboard.page.getByLabel('Which orders').selectOption('all')
    await dashboard.page
      .getByRole('region', { name: 'All orders' })
      .getByText('filled', { exact: true })
      .waitFor()
  })

  it('keeps the symbol to block when that fails', async () => {
    const { page } = dashboard
    const refuse = (route: Route) => (route.request().method() === 'POST' ? route.abort() : route.continue())
    await page.route('**/config', refuse)
    await page.getByLabel('Symbol to block').fill('doge')
    await page.getByRole('button', { name: 'Block' }).click()
    await page.getByRole('alert').getByRole('button', { name: 'Dismiss' }).click()
    expect(await page.getByLabel('Symbol to block').inputValue()).toBe('doge')
    await page.unroute('**/config', refuse)
  })

  it('blocks a symbol, and allows it again after a confirmation', async () => {
    await dashboard.page.getByLabel('Symbol to block').fill('doge')
    await dashboard.page.getByRole('button', { name: 'Block' }).click()
    await dashboard.page.getByRole('list', { name: 'Blocked symbols' }).getByText('DOGE').waitFor()
    expect(await answer('/config')).toMatchObject({ execution: { dcg_symbols: ['DOGE'] } })
    await expect.poll(() => dashboard.page.getByLabel('Symbol to block').inputValue()).toBe('')
    await dashboard.page.getByRole('button', { name: 'Allow DOGE again' }).click()
    await dashboard.page.getByRole('button', { name: 'Allow DOGE', exact: true }).click()
    await dashboard.page.getByText('No symbol is blocked').waitFor()
  })

  it('changes the kill switch and lists every change', async () => {
    await panel('Kill switch').getByRole('button', { name: 'Raise' }).nth(1).click()
    await dashboard.page.getByLabel('Reason').fill('<b>exchange</b> reports delays')
    await dashboard.page.getByRole('button', { name: 'Raise to 2' }).click()
    const history = dashboard.page.getByRole('list', { name: 'Kill switch changes' })
    await history.getByText('0 → 2 Crisis').waitFor()
    await history.getByText('<b>exchange</b> reports delays').waitFor()
    await panel('Limits').getByText('stopped').waitFor()
    await panel('Kill switch').getByRole('button', { name: 'Lower' }).first().click()
    await dashboard.page.getByLabel('Reason').fill('fills are back')
    await dashboard.page.getByLabel('Type LOWER to confirm').fill('LOWER')
    await dashboard.page.getByRole('button', { name: 'Lower to 0' }).click()
    await history.getByText('2 → 0 Normal').waitFor()
    expect(await eventsOf(dashboard.engine, 'system.kill_switch')).toHaveLength(2)
  })

  it('is accessible, fits a phone and has no errors', async () => {
    const reason = 'long'.repeat(100)
    await dashboard.engine.call('POST', '/kill-switch', { body: { level: 3, reason } })
    await panel('Kill switch').getByText(reason).waitFor()
    expect(await violationsOn(dashboard.page)).toEqual([])
    await dashboard.page.setViewportSize(PHONE)
    expect(await overflowsOn(dashboard.page)).toBe(false)
    expect(dashboard.problems).toEqual([])
  })
})
