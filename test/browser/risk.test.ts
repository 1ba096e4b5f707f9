import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventsOf, registerProducer } from '../interface/acts.ts'
import { agreementOn, bullMarket } from '../interface/opinions.ts'
import { cleanUp, TOKEN } from '../interface/service.ts'
import { BROWSER, launch, openPage, overflowsOn, PHONE, signIn, violationsOn } from './browser.ts'
import { price, startEngine, type PaperEngine } from './engine.ts'

/** Intents of the largest tier wait for a person, on paper too. */
const ASKS_FIRST = { SVC_EXECUTION__REQUIRE_APPROVAL: 'true' }

describe.skipIf(BROWSER === undefined)('the risk page', () => {
  let browser: Browser
  let engine: PaperEngine
  let page: Page
  let complaints: readonly string[]
  beforeAll(async () => {
    ;[browser, engine] = await Promise.all([launch(), startEngine(ASKS_FIRST)])
    await registerProducer(engine, 'ticker', 'technical')
    await bullMarket(engine)
    for (const symbol of ['ETH', 'SOL']) {
      await price(engine, symbol, 100)
      await agreementOn(engine, symbol, `fan of ${symbol}`)
    }
    await engine.call('POST', '/brain/run')
    ;({ page, complaints } = await openPage(browser, engine.dashboardUrl))
    await signIn(page, engine.dashboardUrl, TOKEN)
    await page.goto(`${engine.dashboardUrl}/risk`)
  })
  afterAll(async () => {
    await browser.close()
    await cleanUp()
  })
  const answer = async (path: string): Promise<unknown> => (await engine.call('GET', path)).body
  const panel = (name: string) => page.getByRole('region', { name, exact: true })

  it('lets a person approve or deny what waits', async () => {
    await panel('Waiting for approval').getByText('2 waiting').waitFor()
    await page.getByRole('button', { name: /^Approve long ETH/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
    await expect.poll(() => answer('/positions')).toMatchObject([{ asset: 'ETH' }])
    await page.getByRole('button', { name: /^Deny long SOL/ }).click()
    await page.getByLabel('Reason').fill('one is enough')
    await page.getByRole('dialog').getByRole('button', { name: 'Deny' }).click()
    await panel('Waiting for approval').getByText('Nothing waits').waitFor()
    expect(await answer('/intents?status=rejected')).toMatchObject([
      { symbol: 'SOL', reasons: ['approval_denied'] },
    ])
  })

  it('shows values beside what they set off, and orders', async () => {
    const heat = page.getByRole('meter', { name: /^Heat/ })
    await expect.poll(() => heat.getAttribute('aria-valuetext')).toMatch(/^0\.\d+ %; entries stop at 5\.40 %/)
    await page.getByRole('meter', { name: 'Largest position, ETH' }).waitFor()
    await page.getByLabel('Which orders').selectOption('all')
    await page.getByRole('region', { name: 'All orders' }).getByText('filled', { exact: true }).waitFor()
  })

  it('blocks a symbol, and allows it again only when asked twice', async () => {
    await page.getByLabel('Symbol to block').fill('doge')
    await page.getByRole('button', { name: 'Block' }).click()
    await page.getByRole('list', { name: 'Blocked symbols' }).getByText('DOGE').waitFor()
    expect(await answer('/config')).toMatchObject({ execution: { dcg_symbols: ['DOGE'] } })
    await page.getByRole('button', { name: 'Allow DOGE again' }).click()
    await page.getByRole('button', { name: 'Allow DOGE', exact: true }).click()
    await page.getByText('No symbol is blocked').waitFor()
  })

  it('moves the kill switch and remembers every move', async () => {
    await panel('Kill switch').getByRole('button', { name: 'Raise' }).nth(1).click()
    await page.getByLabel('Reason').fill('<b>exchange</b> reports delays')
    await page.getByRole('button', { name: 'Raise to 2' }).click()
    const history = page.getByRole('list', { name: 'Moves of the kill switch' })
    await history.getByText('0 → 2 Crisis').waitFor()
    await history.getByText('<b>exchange</b> reports delays').waitFor()
    await panel('Limits').getByText('stopped').waitFor()
    await panel('Kill switch').getByRole('button', { name: 'Lower' }).first().click()
    await page.getByLabel('Reason').fill('fills are back')
    await page.getByLabel('Type LOWER to confirm').fill('LOWER')
    await page.getByRole('button', { name: 'Lower to 0' }).click()
    await history.getByText('2 → 0 Normal').waitFor()
    expect(await eventsOf(engine, 'system.kill_switch')).toHaveLength(2)
  })

  it('is accessible, fits a phone and never complains', async () => {
    expect(await violationsOn(page)).toEqual([])
    await page.setViewportSize(PHONE)
    expect(await overflowsOn(page)).toBe(false)
    expect(complaints).toEqual([])
  })
})
