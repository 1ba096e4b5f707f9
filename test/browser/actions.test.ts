import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventsOf, submit } from '../interface/acts.ts'
import { cleanUp, TOKEN } from '../interface/service.ts'
import { BROWSER, launch, openPage, PHONE, signIn } from './browser.ts'
import { openPositions, startEngine, type PaperEngine } from './engine.ts'

const OPERATOR_TOKEN = 'the-operator-token-of-more-than-thirty-two-characters'

describe.skipIf(BROWSER === undefined)('an operator', () => {
  let browser: Browser
  let engine: PaperEngine
  let page: Page
  let complaints: readonly string[]
  beforeAll(async () => {
    ;[browser, engine] = await Promise.all([launch(), startEngine()])
    await openPositions(engine)
    ;({ page, complaints } = await openPage(browser, engine.dashboardUrl))
    await signIn(page, engine.dashboardUrl, TOKEN)
  })
  afterAll(async () => {
    await browser.close()
    await cleanUp()
  })
  const go = async (title: string): Promise<void> => {
    await page.getByRole('navigation').getByRole('link', { name: title }).click()
    await page.getByRole('heading', { name: title, level: 1 }).waitFor()
  }
  const level = async (): Promise<unknown> =>
    ((await engine.call('GET', '/kill-switch')).body as { level: number }).level

  it('raises the kill switch with a confirmation, and lowers it only with a reason and a word', async () => {
    await page.keyboard.press('k')
    await page.getByRole('dialog').getByRole('button', { name: 'Raise' }).nth(1).click()
    await page.getByRole('button', { name: 'Raise to 2' }).click()
    await page.getByRole('button', { name: 'Kill switch L2 Crisis' }).first().waitFor()
    expect(await level()).toBe(2)

    await page.keyboard.press('k')
    await page.getByRole('dialog').getByRole('button', { name: 'Lower' }).first().click()
    const lower = page.getByRole('button', { name: 'Lower to 0' })
    expect(await lower.isDisabled()).toBe(true)
    await page.getByLabel('Reason').fill('looked at it')
    expect(await lower.isDisabled()).toBe(true)
    await page.getByLabel('Type LOWER to confirm').fill('lower')
    await lower.click()
    await page.getByRole('button', { name: 'Kill switch L0 Normal' }).first().waitFor()
    expect(await eventsOf(engine, 'system.kill_switch')).toMatchObject([
      { payload: { level: 0, reason: 'looked at it' } },
      { payload: { level: 2 } },
    ])
  })

  it('finds everything with the keyboard', async () => {
    await page.keyboard.press('g')
    await page.keyboard.press('r')
    await page.getByRole('heading', { name: 'Risk', level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Command' }).fill('go audit')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    await page.keyboard.press('Escape')
  })

  it('registers a contributor and sees its signal arrive, whatever it says', async () => {
    await go('Contributors')
    await page.getByRole('button', { name: 'Register a contributor' }).click()
    const form = page.getByRole('dialog', { name: 'Register a contributor' })
    await form.getByLabel('Node id').fill('eve')
    await form.getByLabel('Name', { exact: true }).fill('Eve')
    await form.getByRole('button', { name: 'Register' }).click()
    await form.waitFor({ state: 'detached' })
    await go('Signals')
    const rationale = '<img src=x onerror="document.title=1"> \u202Egnirts'
    await submit(engine, 'eve', { symbol: 'BTC', direction: 'bullish', conviction: 7, rationale })
    const shown = page.getByText('<img src=x onerror="document.title=1"> \\u202egnirts').first()
    await shown.waitFor()
    await shown.click()
    await page.getByRole('dialog').getByText('eve').first().waitFor()
    expect(await page.title()).toBe('Signals – Signal Engine')
    await page.keyboard.press('Escape')
  })

  it('closes a position', async () => {
    await go('Positions')
    await page.getByRole('button', { name: 'Close ETH' }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Close (?!$)/ })
      .last()
      .click()
    await page.getByText('No open positions').waitFor()
    expect((await engine.call('GET', '/positions')).body).toEqual([])
  })

  it('is asked for the operator token once there is one, each time', async () => {
    const body = { api: { operator_token: OPERATOR_TOKEN } }
    expect((await engine.call('POST', '/config', { body })).status).toBe(200)
    for (const [button, expected] of [
      ['Raise to 1', 1],
      ['Raise to 2', 2],
    ] as const) {
      await page
        .getByRole('button', { name: /^Kill switch L/ })
        .first()
        .click()
      await page.getByRole('dialog').getByRole('button', { name: 'Raise' }).first().click()
      await page.getByRole('button', { name: button }).click()
      const token = page.getByRole('textbox', { name: 'Operator token' })
      await token.fill('wrong')
      await page.getByRole('button', { name: 'Go on' }).click()
      await page.getByText('This is not the operator token').waitFor()
      await token.fill(OPERATOR_TOKEN)
      await page.getByRole('button', { name: 'Go on' }).click()
      await expect.poll(level).toBe(expected)
      await page
        .getByRole('button', { name: `Kill switch L${expected}` })
        .first()
        .waitFor()
      await page.keyboard.press('Escape')
    }
  })

  it('reaches the kill switch with a thumb', async () => {
    const phone = await openPage(browser, engine.dashboardUrl, {
      viewport: PHONE,
      hasTouch: true,
      isMobile: true,
    })
    await signIn(phone.page, engine.dashboardUrl, TOKEN)
    const chip = phone.page.getByRole('navigation').getByRole('button', { name: /^Kill switch L/ })
    const box = await chip.boundingBox()
    expect(box?.y).toBeGreaterThan(PHONE.height * 0.8)
    expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44)
    await chip.tap()
    await phone.page.getByRole('dialog', { name: 'Kill switch' }).waitFor()
    expect(phone.complaints).toEqual([])
    await phone.close()
  })

  it('never made the page complain', () => {
    expect(complaints).toEqual([])
  })
})
