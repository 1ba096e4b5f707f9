import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventsOf } from '../interface/acts.ts'
import { cleanUp, TOKEN } from '../interface/service.ts'
import { BROWSER, launch, openPage, overflowsOn, PHONE, signIn, violationsOn } from './browser.ts'
import { headSeq, openPositions, price, startEngine, type PaperEngine } from './engine.ts'

describe.skipIf(BROWSER === undefined)('the audit page', () => {
  let browser: Browser
  let engine: PaperEngine
  let page: Page
  let complaints: readonly string[]
  beforeAll(async () => {
    ;[browser, engine] = await Promise.all([launch(), startEngine()])
    await openPositions(engine)
    ;({ page, complaints } = await openPage(browser, engine.dashboardUrl))
    await signIn(page, engine.dashboardUrl, TOKEN)
    await page.goto(`${engine.dashboardUrl}/audit`)
  })
  afterAll(async () => {
    await browser.close()
    await cleanUp()
  })
  const rows = () => page.getByRole('region', { name: 'Events', exact: true }).getByRole('listitem')

  it('finds events by type, symbol, author, id and time', async () => {
    const [opened] = await eventsOf(engine, 'execution.position_opened')
    await page.getByLabel('Type').fill('execution.position_opened')
    await page.getByText('2 events, all there are').waitFor()
    await page.getByLabel('Symbol').fill('ETH')
    await page.getByText('1 event, all there are').waitFor()
    await page.getByLabel('Author').fill('nobody')
    await page.getByText('No event passes the filter').waitFor()
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByLabel('Trace or id').fill(`trace:${opened?.trace_id}`)
    await rows().getByText('execution.position_opened.v1').first().waitFor()
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByLabel('From (your time)').fill('2099-01-01T00:00:00')
    await page.getByText('No event passes the filter').waitFor()
    await page.getByRole('button', { name: 'Clear' }).click()
    await rows().first().waitFor()
  })

  it('offers newer events without moving what one reads', async () => {
    await price(engine, 'ETH', 102.5)
    await page.getByRole('button', { name: /^Show \d+ newer event/ }).click()
    await rows().first().waitFor()
  })

  it('shows a record with its proof, its causes and its consequences', async () => {
    const intents = await eventsOf(engine, 'execution.trade_intent')
    const intent = intents.find(({ payload }) => payload['symbol'] === 'SOL')
    await page.goto(`${engine.dashboardUrl}/audit?event=${intent?.id}`)
    const sheet = page.getByRole('dialog', { name: 'execution.trade_intent.v1' })
    for (const what of ['Hash', 'Link', 'Signature']) await sheet.getByText(`${what}: right`).waitFor()
    await sheet
      .getByRole('link', { name: /brain.conviction.v1/ })
      .first()
      .waitFor()
    expect(await violationsOn(page)).toEqual([])
    await sheet
      .getByRole('link', { name: /execution.position_opened.v1/ })
      .first()
      .click()
    await page.getByRole('dialog', { name: 'execution.position_opened.v1' }).waitFor()
    await page.getByRole('link', { name: /execution.position_closed.v1/ }).waitFor()
    await page.keyboard.press('Escape')
  })

  it('verifies the newest events, and all', async () => {
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText(/^The newest [\d,]+ of [\d,]+ events/).waitFor()
    await page.getByLabel('What to verify').selectOption('all')
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText(/^All [\d,]+ events/).waitFor()
    await page.getByText('Verified', { exact: true }).waitFor()
  })

  it('exports all there is, line by line', async () => {
    const count = await headSeq(engine)
    const waiting = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    const path = await (await waiting).path()
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n')
    expect(lines.length).toBeGreaterThanOrEqual(count)
    expect(lines.slice(0, 3).map((line) => (JSON.parse(line) as { seq: number }).seq)).toEqual([1, 2, 3])
  })

  it('is accessible, fits a phone and never complains', async () => {
    expect(await violationsOn(page)).toEqual([])
    await page.setViewportSize(PHONE)
    await page.getByRole('button', { name: 'Filters' }).click()
    expect(await overflowsOn(page)).toBe(false)
    expect(complaints).toEqual([])
  })
})
