import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, TOKEN } from '../interface/service.ts'
import { BROWSER, launch, openPage, overflowsOn, PHONE, signIn, violationsOn } from './browser.ts'
import { openPositions, startEngine, type PaperEngine } from './engine.ts'

describe.skipIf(BROWSER === undefined)('the positions page', () => {
  let browser: Browser
  let engine: PaperEngine
  let page: Page
  let complaints: readonly string[]
  beforeAll(async () => {
    ;[browser, engine] = await Promise.all([launch(), startEngine()])
    await openPositions(engine)
    ;({ page, complaints } = await openPage(browser, engine.dashboardUrl))
    await signIn(page, engine.dashboardUrl, TOKEN)
    await page.goto(`${engine.dashboardUrl}/positions`)
  })
  afterAll(async () => {
    await browser.close()
    await cleanUp()
  })
  const open = () => page.getByRole('region', { name: 'Open positions' }).getByRole('table')
  const closed = () => page.getByRole('region', { name: 'Closed positions' }).getByRole('table')

  it('shows what is open and what is closed', async () => {
    await open()
      .getByRole('row', { name: /ETH long/ })
      .waitFor()
    await closed()
      .getByRole('row', { name: /SOL long take profit/ })
      .waitFor()
    await page.getByText('1 of 1 closed').waitFor()
    expect(await violationsOn(page)).toEqual([])
  })

  it('shows the price, the reasons and the events of a trade', async () => {
    await closed().getByRole('button', { name: /SOL/ }).click()
    const sheet = page.getByRole('dialog', { name: 'SOL long' })
    await sheet
      .getByRole('img', { name: /Price of SOL: entry at 100.*stop at.*target at.*exit at/ })
      .waitFor()
    await sheet.getByText('fan of SOL').waitFor()
    await sheet.getByRole('link', { name: /execution.position_closed.v1/ }).waitFor()
    expect(await sheet.getByRole('button', { name: 'Close position' }).count()).toBe(0)
    expect(await violationsOn(page)).toEqual([])
    await page.keyboard.press('Escape')
  })

  it('closes all only with a reason and a word', async () => {
    await page.getByRole('button', { name: 'Close all' }).click()
    const dialog = page.getByRole('dialog')
    const confirm = dialog.getByRole('button', { name: 'Close all' })
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByLabel('Type CLOSE to confirm').fill('close')
    await confirm.click()
    await page.getByText('No open positions').waitFor()
    await closed()
      .getByRole('row', { name: /ETH long manual/ })
      .waitFor()
    expect((await engine.call('GET', '/positions')).body).toEqual([])
  })

  it('fits a phone and never complains', async () => {
    await page.setViewportSize(PHONE)
    expect(await overflowsOn(page)).toBe(false)
    expect(complaints).toEqual([])
  })
})
