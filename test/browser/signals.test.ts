import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventsOf, register, submit } from '../interface/acts.ts'
import { cleanUp, TOKEN } from '../interface/service.ts'
import { BROWSER, launch, openPage, overflowsOn, PHONE, signIn, violationsOn } from './browser.ts'
import { openPositions, startEngine, type PaperEngine } from './engine.ts'

describe.skipIf(BROWSER === undefined)('the signals page', () => {
  let browser: Browser
  let engine: PaperEngine
  let page: Page
  let complaints: readonly string[]
  beforeAll(async () => {
    ;[browser, engine] = await Promise.all([launch(), startEngine()])
    await openPositions(engine)
    ;({ page, complaints } = await openPage(browser, engine.dashboardUrl))
    await signIn(page, engine.dashboardUrl, TOKEN)
    await page.goto(`${engine.dashboardUrl}/signals`)
  })
  afterAll(async () => {
    await browser.close()
    await cleanUp()
  })
  const rows = () => page.getByRole('region', { name: 'Signals' }).getByRole('listitem')

  it('shows signals as they come, and holds still when asked', async () => {
    await rows().first().waitFor()
    await register(engine, 'ann')
    await submit(engine, 'ann', {
      symbol: 'DOGE',
      direction: 'bearish',
      conviction: 4,
      rationale: 'too loud',
    })
    await rows().first().getByText('DOGE').waitFor()
    await page.getByRole('button', { name: 'Hold' }).click()
    await submit(engine, 'ann', { symbol: 'PEPE', direction: 'neutral', conviction: 1 })
    await page.getByRole('button', { name: 'Go on · 1 new' }).waitFor()
    expect(await rows().getByText('PEPE').count()).toBe(0)
    await page.getByRole('button', { name: 'Go on' }).click()
    await rows().first().getByText('PEPE').waitFor()
  })

  it('filters by domain, symbol and author, in the address', async () => {
    await page.getByLabel('Author').fill('fan of SOL')
    await page.getByText('1 signal, all there are').waitFor()
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByText(/^\d\d signals/).waitFor()
    await page.getByLabel('Domain').fill('etf')
    await page.getByLabel('Symbol').fill('eth')
    await page.getByText('1 signal, all there are').waitFor()
    expect(new URL(page.url()).search).toContain('domain=etf')
    await page.getByLabel('Symbol').fill('nothing')
    await page.getByText('No signal passes the filter').waitFor()
    await page.getByRole('button', { name: 'Clear' }).click()
    await rows().first().waitFor()
  })

  it('tells the story of a signal, and proves it', async () => {
    const signal = (await eventsOf(engine, 'signal.curator')).find(({ source }) => source === 'fan of SOL')
    await page.goto(`${engine.dashboardUrl}/signals?signal=${signal?.id}`)
    const sheet = page.getByRole('dialog')
    for (const text of ['Said by a contributor', 'Behind 1 trade', 'Outcome'])
      await sheet.getByText(text).waitFor()
    for (const what of ['Hash', 'Link', 'Signature']) {
      await sheet.getByText(`${what}: right`).waitFor()
    }
    expect(await violationsOn(page)).toEqual([])
    await sheet.getByRole('link', { name: 'Open in the audit' }).click()
    await page.getByRole('dialog', { name: 'signal.curator.v1', exact: true }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/audit')
    await page.goto(`${engine.dashboardUrl}/signals`)
  })

  it('submits a signal in the name of a contributor', async () => {
    await page.getByRole('button', { name: 'Submit a signal' }).click()
    const form = page.getByRole('dialog', { name: 'Submit a signal' })
    await form.getByLabel('Contributor').selectOption('ann')
    await form.getByLabel('Symbol').fill('btc')
    await form.getByLabel('Conviction').fill('8')
    await form.getByLabel('Rationale').fill('<script>alert(1)</script>')
    expect(await violationsOn(page)).toEqual([])
    await form.getByRole('button', { name: 'Submit' }).click()
    await page.getByRole('dialog', { name: 'BTC · signal.curator.v1' }).waitFor()
    await page.getByLabel('Rationale').getByText('<script>alert(1)</script>').waitFor()
    expect((await eventsOf(engine, 'signal.curator'))[0]).toMatchObject({
      source: 'ann',
      payload: { symbol: 'BTC', direction: 'bullish', conviction: 8 },
    })
    await page.keyboard.press('Escape')
  })

  it('is accessible, fits a phone and never complains', async () => {
    await rows().first().waitFor()
    expect(await violationsOn(page)).toEqual([])
    await page.setViewportSize(PHONE)
    await page.getByRole('button', { name: 'Filters' }).click()
    expect(await overflowsOn(page)).toBe(false)
    expect(complaints).toEqual([])
  })
})
