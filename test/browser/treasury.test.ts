import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, TOKEN } from '../interface/service.ts'
import { BROWSER, launch, openPage, overflowsOn, PHONE, signIn, violationsOn } from './browser.ts'
import { openPositions, startEngine, type PaperEngine } from './engine.ts'

/** A release that writes no karma intents has nothing to settle; its list of events says so. */
const OWES_KARMA = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8').includes(
  '`karma.intent.v1`',
)

describe.skipIf(BROWSER === undefined)('the treasury page', () => {
  let browser: Browser
  let engine: PaperEngine
  let page: Page
  let complaints: readonly string[]
  beforeAll(async () => {
    ;[browser, engine] = await Promise.all([launch(), startEngine()])
    await openPositions(engine)
    ;({ page, complaints } = await openPage(browser, engine.dashboardUrl))
    await signIn(page, engine.dashboardUrl, TOKEN)
    await page.goto(`${engine.dashboardUrl}/treasury`)
  })
  afterAll(async () => {
    await browser.close()
    await cleanUp()
  })

  it.runIf(OWES_KARMA)('shows what a winning trade owes, to whom, and checks who signed it', async () => {
    const owed = page.getByRole('region', { name: 'Karma intents' })
    await owed.getByText('signature valid').waitFor()
    await owed.getByRole('row').nth(1).getByRole('button').first().click()
    const sheet = page.getByRole('dialog')
    await sheet.getByText('signature valid').waitFor()
    await sheet.getByText('Name of fan of SOL').waitFor()
    await page.keyboard.press('Escape')
  })

  it.runIf(OWES_KARMA)('settles it, and anybody can check the receipt', async () => {
    await page.getByLabel(/^Select /).check()
    await page.getByRole('button', { name: /^Settle 1 / }).click()
    await page.getByLabel('Transaction').fill('0xabc')
    await page.getByRole('dialog').getByRole('button', { name: 'Settle' }).click()
    const receipts = page.getByRole('region', { name: 'All receipts' })
    await receipts.getByText('submitted').waitFor()
    await receipts.getByText('signature valid').waitFor()
    await page.getByText('Nothing waits').waitFor()
    await receipts.getByRole('row').nth(1).getByRole('button').first().click()
    await page.getByRole('dialog').getByText('node -e').waitFor()
    expect(await violationsOn(page)).toEqual([])
    await page.keyboard.press('Escape')
  })

  it('says whether the wallet is locked', async () => {
    await page.getByText('not locked yet').waitFor()
  })

  it('is accessible, fits a phone and never complains', async () => {
    expect(await violationsOn(page)).toEqual([])
    await page.setViewportSize(PHONE)
    expect(await overflowsOn(page)).toBe(false)
    expect(complaints).toEqual([])
  })
})
