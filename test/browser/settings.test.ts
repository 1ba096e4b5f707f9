import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventsOf } from '../interface/acts.ts'
import { cleanUp, TOKEN } from '../interface/service.ts'
import { BROWSER, launch, openPage, overflowsOn, PHONE, signIn, violationsOn } from './browser.ts'
import { startEngine, type PaperEngine } from './engine.ts'

describe.skipIf(BROWSER === undefined)('the settings page', () => {
  let browser: Browser
  let engine: PaperEngine
  let page: Page
  let complaints: readonly string[]
  beforeAll(async () => {
    ;[browser, engine] = await Promise.all([launch(), startEngine()])
    ;({ page, complaints } = await openPage(browser, engine.dashboardUrl))
    await signIn(page, engine.dashboardUrl, TOKEN)
    await page.goto(`${engine.dashboardUrl}/settings`)
  })
  afterAll(async () => {
    await browser.close()
    await cleanUp()
  })
  const configuration = async (): Promise<unknown> => (await engine.call('GET', '/config')).body
  const openSection = (name: string) =>
    page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name }).click()
  const bar = () => page.getByRole('region', { name: 'Unsaved changes' })
  const review = () => bar().getByRole('button', { name: 'Review and save' })
  const save = async (): Promise<void> => {
    await review().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    // Behind the dialog nothing can be seen, so its end comes first.
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await bar().waitFor({ state: 'detached' })
  }

  it('says what is wrong while it is typed, and saves only what is right', async () => {
    await openSection('Risk')
    const leverage = page.getByLabel('Max leverage')
    await leverage.fill('500')
    await bar().getByText('not valid').waitFor()
    await expect.poll(() => leverage.getAttribute('aria-invalid')).toBe('true')
    expect(await review().isDisabled()).toBe(true)
    await leverage.fill('3')
    await bar().getByText('valid', { exact: true }).waitFor()
    await save()
    expect(await configuration()).toMatchObject({ risk: { max_leverage: 3 } })
    expect(await eventsOf(engine, 'system.config_changed')).toMatchObject([
      { payload: { changed: ['risk.max_leverage'] } },
    ])
  })

  it('goes back to a default', async () => {
    await page.getByRole('button', { name: 'Default for risk.max_leverage' }).click()
    await save()
    expect(await configuration()).toMatchObject({ risk: { max_leverage: 2 } })
  })

  it('tells of a fault of several settings together', async () => {
    await openSection('Weights')
    await page.getByLabel('Curator').fill('0.5')
    await bar().getByText('not valid').waitFor()
    await page
      .getByText(/sum|add up/i)
      .last()
      .waitFor()
    await bar().getByRole('button', { name: 'Discard' }).click()
    await bar().waitFor({ state: 'detached' })
  })

  it('shows what a preset would change before it does', async () => {
    await openSection('Preset')
    await page.getByRole('radio', { name: /^degen/ }).check()
    const changes = page.getByText('What would change').locator('..')
    await changes.getByText('risk.max_position_pct').waitFor()
    await save()
    expect(await configuration()).toMatchObject({ preset: 'degen', risk: { max_leverage: 5 } })
  })

  it('says what needs a restart, and what the environment decides', async () => {
    await openSection('API')
    expect(await page.getByLabel('Port', { exact: true }).isDisabled()).toBe(true)
    await page.getByText('SVC_API__PORT decides').waitFor()
    await openSection('Market')
    await page.getByLabel('Seed').fill('7')
    await review().click()
    await page.getByRole('dialog').getByText('restart', { exact: true }).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    const note = page.getByText(/Restart the service so that what was saved counts: market.seed/)
    await note.waitFor()
    expect(await configuration()).toMatchObject({ market: { seed: 7 } })
    await page.reload()
    await note.waitFor()
    await page.getByText('waits for a restart', { exact: true }).waitFor()
    const ports = {
      SVC_API__PORT: new URL(engine.baseUrl).port,
      SVC_DASHBOARD__PORT: new URL(engine.dashboardUrl).port,
    }
    await engine.stop()
    engine = await startEngine(ports, engine.home)
    await note.waitFor({ state: 'detached' })
    expect(await page.getByLabel('Seed').inputValue()).toBe('7')
  })

  it('finds settings by their words, and does not forget a draft unasked', async () => {
    await page.getByLabel('Search settings').fill('dcg')
    await page.getByLabel('DCG symbols').fill('SUI, DOGE')
    await page.getByRole('link', { name: 'Treasury' }).click()
    await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    expect(await page.getByLabel('DCG symbols').inputValue()).toBe('SUI, DOGE')
    await bar().getByRole('button', { name: 'Discard' }).click()
    await page.getByLabel('Search settings').fill('')
  })

  it('says who this node is', async () => {
    await openSection('This node')
    const [started] = await eventsOf(engine, 'system.started')
    await page.getByText(String(started?.payload['node_id']), { exact: true }).waitFor()
    await page.getByText(String(started?.payload['public_key']), { exact: true }).waitFor()
    await page.getByRole('main').getByRole('button', { name: 'Sign out' }).waitFor()
  })

  it('is accessible, fits a phone and never complains', async () => {
    for (const section of ['This node', 'Preset', 'Execution']) {
      await openSection(section)
      expect(await violationsOn(page)).toEqual([])
    }
    await page.setViewportSize(PHONE)
    expect(await overflowsOn(page)).toBe(false)
    expect(complaints).toEqual([])
  })
})
