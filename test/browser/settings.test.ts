import { describe, expect, it } from 'vitest'
import { eventsOf } from '../interface/acts.ts'
import { BROWSER, overflowsOn, PHONE, violationsOn } from './browser.ts'
import { onStage } from './stage.ts'

describe.skipIf(BROWSER === undefined)('the settings page', () => {
  const stage = onStage({ path: '/settings' })
  const configuration = async (): Promise<unknown> => (await stage.engine.call('GET', '/config')).body
  const openSection = (name: string) =>
    stage.page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name }).click()
  const bar = () => stage.page.getByRole('region', { name: 'Unsaved changes' })
  const review = () => bar().getByRole('button', { name: 'Review and save' })
  const save = async (): Promise<void> => {
    await review().click()
    await stage.page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    // Behind the dialog nothing can be seen, so its end comes first.
    await stage.page.getByRole('dialog').waitFor({ state: 'detached' })
    await bar().waitFor({ state: 'detached' })
  }

  it('says what is wrong while it is typed, and saves only what is right', async () => {
    await openSection('Risk')
    const leverage = stage.page.getByLabel('Max leverage')
    await leverage.fill('500')
    await bar().getByText('not valid').waitFor()
    await expect.poll(() => leverage.getAttribute('aria-invalid')).toBe('true')
    expect(await review().isDisabled()).toBe(true)
    await leverage.fill('3')
    await bar().getByText('valid', { exact: true }).waitFor()
    await save()
    expect(await configuration()).toMatchObject({ risk: { max_leverage: 3 } })
    expect(await eventsOf(stage.engine, 'system.config_changed')).toMatchObject([
      { payload: { changed: ['risk.max_leverage'] } },
    ])
  })

  it('goes back to a default', async () => {
    await stage.page.getByRole('button', { name: 'Default for risk.max_leverage' }).click()
    await save()
    expect(await configuration()).toMatchObject({ risk: { max_leverage: 2 } })
  })

  it('tells of a fault of several settings together', async () => {
    await openSection('Weights')
    await stage.page.getByLabel('Curator').fill('0.5')
    await bar().getByText('not valid').waitFor()
    await stage.page
      .getByText(/sum|add up/i)
      .last()
      .waitFor()
    await bar().getByRole('button', { name: 'Discard' }).click()
    await bar().waitFor({ state: 'detached' })
  })

  it('shows what a preset would change before it does', async () => {
    await openSection('Preset')
    await stage.page.getByRole('radio', { name: /^degen/ }).check()
    const changes = stage.page.getByText('What would change').locator('..')
    await changes.getByText('risk.max_position_pct').waitFor()
    await save()
    expect(await configuration()).toMatchObject({ preset: 'degen', risk: { max_leverage: 5 } })
  })

  it('says what needs a restart, and what the environment decides', async () => {
    await openSection('API')
    expect(await stage.page.getByLabel('Port', { exact: true }).isDisabled()).toBe(true)
    await stage.page.getByText('SVC_API__PORT decides').waitFor()
    await openSection('Market')
    await stage.page.getByLabel('Seed').fill('7')
    await review().click()
    await stage.page.getByRole('dialog').getByText('restart', { exact: true }).waitFor()
    await stage.page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    const note = stage.page.getByText(/Restart the service so that what was saved counts: market.seed/)
    await note.waitFor()
    expect(await configuration()).toMatchObject({ market: { seed: 7 } })
    await stage.page.reload()
    await note.waitFor()
    await stage.page.getByText('waits for a restart', { exact: true }).waitFor()
    await stage.restart()
    await note.waitFor({ state: 'detached' })
    expect(await stage.page.getByLabel('Seed').inputValue()).toBe('7')
  }, 90_000)

  it('finds settings by their words, and does not forget a draft unasked', async () => {
    await stage.page.getByLabel('Search settings').fill('dcg')
    await stage.page.getByLabel('DCG symbols').fill('SUI, DOGE')
    await stage.page.getByRole('link', { name: 'Treasury' }).click()
    await stage.page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor()
    await stage.page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    expect(await stage.page.getByLabel('DCG symbols').inputValue()).toBe('SUI, DOGE')
    await bar().getByRole('button', { name: 'Discard' }).click()
    await stage.page.getByLabel('Search settings').fill('')
  })

  it('says who this node is', async () => {
    await openSection('This node')
    const [started] = await eventsOf(stage.engine, 'system.started')
    await stage.page.getByText(String(started?.payload['node_id']), { exact: true }).waitFor()
    await stage.page.getByText(String(started?.payload['public_key']), { exact: true }).waitFor()
    await stage.page.getByRole('main').getByRole('button', { name: 'Sign out' }).waitFor()
  })

  it('is accessible, fits a phone and never complains', async () => {
    for (const section of ['This node', 'Preset', 'Execution']) {
      await openSection(section)
      expect(await violationsOn(stage.page)).toEqual([])
    }
    await stage.page.setViewportSize(PHONE)
    expect(await overflowsOn(stage.page)).toBe(false)
    expect(stage.complaints).toEqual([])
  })
})
