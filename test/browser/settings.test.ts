import { describe, expect, it } from 'vitest'
import { eventsOf } from '../interface/acts.ts'
import { BROWSER, overflowsOn, PHONE, violationsOn } from './browser.fixture.ts'
import { useSignedInPage } from './signed-in-page.fixture.ts'

describe.skipIf(BROWSER === undefined)('the settings page', () => {
  const dashboard = useSignedInPage({ path: '/settings' })
  const configuration = async (): Promise<unknown> => (await dashboard.engine.call('GET', '/config')).body
  const openSection = (name: string) =>
    dashboard.page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name }).click()
  const bar = () => dashboard.page.getByRole('region', { name: 'Unsaved changes' })
  const review = () => bar().getByRole('button', { name: 'Review and save' })
  const save = async (): Promise<void> => {
    await review().click()
    await dashboard.page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    // The dialog hides the page, so it has to close first.
    await dashboard.page.getByRole('dialog').waitFor({ state: 'detached' })
    await bar().waitFor({ state: 'detached' })
  }

  it('validates while typing, and saves only valid settings', async () => {
    await openSection('Risk')
    const leverage = dashboard.page.getByLabel('Max leverage')
    await leverage.fill('500')
    await bar().getByText('not valid').waitFor()
    await expect.poll(() => leverage.getAttribute('aria-invalid')).toBe('true')
    expect(await review().isDisabled()).toBe(true)
    await leverage.fill('3')
    await bar().getByText('valid', { exact: true }).waitFor()
    await save()
    expect(await configuration()).toMatchObject({ risk: { max_leverage: 3 } })
    expect(await eventsOf(dashboard.engine, 'system.config_changed')).toMatchObject([
      { payload: { changed: ['risk.max_leverage'] } },
    ])
  })

  it('resets a setting to its default', async () => {
    await dashboard.page.getByRole('button', { name: 'Default for risk.max_leverage' }).click()
    await save()
    expect(await configuration()).toMatchObject({ risk: { max_leverage: 2 } })
  })

  it('reports an error across several settings', async () => {
    await openSection('Weights')
    await dashboard.page.getByLabel('Curator').fill('0.5')
    await bar().getByText('not valid').waitFor()
    await dashboard.page
      .getByText(/sum|add up/i)
      .last()
      .waitFor()
    await bar().getByRole('button', { name: 'Discard' }).click()
    await bar().waitFor({ state: 'detached' })
  })

  it('shows what a preset would change before it does', async () => {
    await openSection('Preset')
    await dashboard.page.getByRole('radio', { name: /^degen/ }).check()
    const changes = dashboard.page.getByText('What would change').locator('..')
    await changes.getByText('risk.max_position_pct').waitFor()
    await save()
    expect(await configuration()).toMatchObject({ preset: 'degen', risk: { max_leverage: 5 } })
  })

  it('shows what needs a restart, and what the environment sets', async () => {
    await openSection('API')
    expect(await dashboard.page.getByLabel('Port', { exact: true }).isDisabled()).toBe(true)
    await dashboard.page.getByText('set by SVC_API__PORT').waitFor()
    await openSection('Market')
    await dashboard.page.getByLabel('Seed').fill('7')
    await review().click()
    await dashboard.page.getByRole('dialog').getByText('restart', { exact: true }).waitFor()
    await dashboard.page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    const note = dashboard.page.getByText(/Restart the service to apply: market.seed/)
    await note.waitFor()
    expect(await configuration()).toMatchObject({ market: { seed: 7 } })
    await dashboard.page.reload()
    await note.waitFor()
    await dashboard.page.getByText('waits for a restart', { exact: true }).waitFor()
    await dashboard.page.getByText(/^running: /).waitFor()
    await dashboard.restart()
    await note.waitFor({ state: 'detached' })
    expect(await dashboard.page.getByLabel('Seed').inputValue()).toBe('7')
  })

  it('finds settings, and asks before it discards a draft', async () => {
    await dashboard.page.getByLabel('Search settings').fill('dcg')
    await dashboard.page.getByLabel('DCG symbols').fill('SUI, DOGE')
    await dashboard.page.getByRole('link', { name: 'Treasury' }).click()
    await dashboard.page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor()
    await dashboard.page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    expect(await dashboard.page.getByLabel('DCG symbols').inputValue()).toBe('SUI, DOGE')
    await bar().getByRole('button', { name: 'Discard' }).click()
    await dashboard.page.getByLabel('Search settings').fill('')
  })

  it('shows the identity of the node', async () => {
    await openSection('This node')
    const [started] = await eventsOf(dashboard.engine, 'system.started')
    await dashboard.page.getByText(String(started?.payload['node_id']), { exact: true }).waitFor()
    await dashboard.page.getByText(String(started?.payload['public_key']), { exact: true }).waitFor()
    await dashboard.page.getByRole('main').getByRole('button', { name: 'Sign out' }).waitFor()
  })

  it('is accessible, fits a phone and has no errors', async () => {
    for (const section of ['This node', 'Preset', 'Execution']) {
      await openSection(section)
      expect(await violationsOn(dashboard.page)).toEqual([])
    }
    await dashboard.page.setViewportSize(PHONE)
    expect(await overflowsOn(dashboard.page)).toBe(false)
    expect(dashboard.problems).toEqual([])
  })
})
