import { describe, expect, it } from 'vitest'
import { eventsOf, submit } from '../interface/acts.ts'
import { svc, TOKEN } from '../interface/service.ts'
import { BROWSER, openPage, PHONE, signIn } from './browser.fixture.ts'
import { openPositions } from './engine.fixture.ts'
import { useSignedInPage } from './signed-in-page.fixture.ts'

const OPERATOR_TOKEN = 'the-operator-token-of-more-than-thirty-two-characters'

describe.skipIf(BROWSER === undefined)('an operator', () => {
  const dashboard = useSignedInPage({ prepare: openPositions })
  const go = async (title: string): Promise<void> => {
    await dashboard.page.getByRole('navigation').getByRole('link', { name: title }).click()
    await dashboard.page.getByRole('heading', { name: title, level: 1 }).waitFor()
  }
  const level = async (): Promise<unknown> =>
    ((await dashboard.engine.call('GET', '/kill-switch')).body as { level: number }).level

  it('raises the kill switch with a confirmation, and lowers it only with a reason and a typed word', async () => {
    await dashboard.page.keyboard.press('k')
    await dashboard.page.getByRole('dialog').getByRole('button', { name: 'Raise' }).nth(1).click()
    await dashboard.page.getByRole('button', { name: 'Raise to 2' }).click()
    await dashboard.page.getByRole('button', { name: 'Kill switch L2 Crisis' }).first().waitFor()
    expect(await level()).toBe(2)

    await dashboard.page.keyboard.press('k')
    await dashboard.page.getByRole('dialog').getByRole('button', { name: 'Lower' }).first().click()
    const lower = dashboard.page.getByRole('button', { name: 'Lower to 0' })
    expect(await lower.isDisabled()).toBe(true)
    await dashboard.page.getByLabel('Reason').fill('looked at it')
    expect(await lower.isDisabled()).toBe(true)
    await dashboard.page.getByLabel('Type LOWER to confirm').fill('lower')
    await lower.click()
    await dashboard.page.getByRole('button', { name: 'Kill switch L0 Normal' }).first().waitFor()
    expect(await eventsOf(dashboard.engine, 'system.kill_switch')).toMatchObject([
      { payload: { level: 0, reason: 'looked at it' } },
      { payload: { level: 2 } },
    ])
  })

  it('navigates with the keyboard', async () => {
    await dashboard.page.keyboard.press('g')
    await dashboard.page.keyboard.press('r')
    await dashboard.page.getByRole('heading', { name: 'Risk', level: 1 }).waitFor()
    await dashboard.page.keyboard.press('Control+k')
    await dashboard.page.getByRole('combobox', { name: 'Command' }).fill('go audit')
    await dashboard.page.keyboard.press('Enter')
    await dashboard.page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor()
    await dashboard.page.keyboard.press('?')
    await dashboard.page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    await dashboard.page.keyboard.press('Escape')
  })

  it('skips to the content, and always sees the focus', async () => {
    const { page } = dashboard
    await page.reload()
    await page.getByText('Live', { exact: true }).waitFor()
    await page.keyboard.press('Tab')
    const skip = page.getByRole('link', { name: 'Skip to the content' })
    expect(await skip.evaluate(IS_FOCUSED)).toBe(true)
    expect((await skip.boundingBox())?.width).toBeGreaterThan(40)
    await page.keyboard.press('Enter')
    expect(await page.getByRole('main').evaluate(IS_FOCUSED)).toBe(true)
    await page.keyboard.press('Tab')
    expect(await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid')
  })

  it('gets the focus back after closing a dialog', async () => {
    const { page } = dashboard
    const link = page.getByRole('navigation').getByRole('link', { name: 'Signals' })
    await link.focus()
    for (const [keys, dialog] of [
      ['k', 'Kill switch'],
      ['Control+k', 'Commands'],
      ['?', 'Keyboard'],
    ] as const) {
      await page.keyboard.press(keys)
      await page.getByRole('dialog', { name: dialog }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await expect.poll(() => link.evaluate(IS_FOCUSED)).toBe(true)
    }
  })

  it('walks through a list, opens an entry and returns, with the keyboard alone', async () => {
    const { page } = dashboard
    await go('Signals')
    const rows = page.getByRole('region', { name: 'Signals', exact: true }).getByRole('button')
    await rows.first().focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    expect(await rows.nth(1).evaluate(IS_FOCUSED)).toBe(true)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText('Chain proof').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expect.poll(() => rows.nth(1).evaluate(IS_FOCUSED)).toBe(true)

    await page.keyboard.press('k')
    await page.getByRole('dialog').getByRole('button', { name: 'Raise' }).first().focus()
    await page.keyboard.press('Enter')
    await page.getByLabel('Reason').waitFor()
    await page.getByLabel('Reason').press('Enter')
    await expect.poll(level).toBe(1)
    await dashboard.engine.call('POST', '/kill-switch', { body: { level: 0, reason: 'enough' } })
    await page.getByRole('button', { name: 'Kill switch L0 Normal' }).first().waitFor()
  })

  it('keeps the focus on a button that works', async () => {
    const { page } = dashboard
    await go('Brain')
    const run = page.getByRole('button', { name: 'Run a cycle' })
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    await page.route('**/api/v1/brain/run', async (route) => {
      await released
      // Not sent on: a cycle would trade.
      await route.fulfill({ status: 409, json: { detail: 'Another cycle runs', code: 'test' } })
    })
    // The switch has just been lowered: until the page knows, the button cannot be pressed.
    await expect.poll(() => run.isEnabled()).toBe(true)
    await run.focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => run.getAttribute('aria-disabled')).toBe('true')
    // A second press does nothing, and the button has the focus for the next one.
    await page.keyboard.press('Enter')
    expect(await run.evaluate(IS_FOCUSED)).toBe(true)
    release()
    await page.getByText('Another cycle runs').waitFor()
    await expect.poll(() => run.isDisabled()).toBe(false)
    expect(await run.evaluate(IS_FOCUSED)).toBe(true)
    await page.getByRole('alert').getByRole('button', { name: 'Dismiss' }).click()
    await page.unroute('**/api/v1/brain/run')
  })

  it('registers a contributor and sees its signal arrive as plain text', async () => {
    await go('Contributors')
    await dashboard.page.getByRole('button', { name: 'Register a contributor' }).click()
    const form = dashboard.page.getByRole('dialog', { name: 'Register a contributor' })
    await form.getByLabel('Node id').fill('eve')
    await form.getByLabel('Name', { exact: true }).fill('Eve')
    await form.getByRole('button', { name: 'Register' }).click()
    await form.waitFor({ state: 'detached' })
    await go('Signals')
    const rationale = '<img src=x onerror="document.title=1"> \u202Egnirts'
    await submit(dashboard.engine, 'eve', { symbol: 'BTC', direction: 'bullish', conviction: 7, rationale })
    const shown = dashboard.page.getByText('<img src=x onerror="document.title=1"> \\u202egnirts').first()
    await shown.waitFor()
    await shown.click()
    await dashboard.page.getByRole('dialog').getByText('eve').first().waitFor()
    expect(await dashboard.page.title()).toMatch(/^\(\d+\) Signals – Signal Engine$/)
    await dashboard.page.keyboard.press('Escape')
  })

  it('closes a position', async () => {
    await go('Positions')
    await dashboard.page.getByRole('button', { name: 'Close ETH' }).click()
    await dashboard.page
      .getByRole('dialog')
      .getByRole('button', { name: /^Close (?!$)/ })
      .last()
      .click()
    await dashboard.page.getByText('No open positions').waitFor()
    expect((await dashboard.engine.call('GET', '/positions')).body).toEqual([])
  })

  it('is asked for the operator token with every action that needs it, once there is one', async () => {
    const { engine } = dashboard
    expect((await svc(engine.home, ['config', 'set', 'api.operator_token', OPERATOR_TOKEN])).exitCode).toBe(0)
    const operatorToken = async (): Promise<unknown> =>
      ((await engine.call('GET', '/config')).body as { api: { operator_token: string } }).api.operator_token
    await expect.poll(operatorToken).not.toBe('')
    const openKillSwitch = () =>
      dashboard.page
        .getByRole('button', { name: /^Kill switch L/ })
        .first()
        .click()
    const untilShown = (expected: number) =>
      dashboard.page
        .getByRole('button', { name: `Kill switch L${expected}` })
        .first()
        .waitFor()
    // Raising needs none.
    await openKillSwitch()
    await dashboard.page.getByRole('dialog').getByRole('button', { name: 'Raise' }).nth(1).click()
    await dashboard.page.getByRole('button', { name: 'Raise to 2' }).click()
    await untilShown(2)
    await dashboard.page.keyboard.press('Escape')
    for (const [index, expected] of [
      [1, 1],
      [0, 0],
    ] as const) {
      await openKillSwitch()
      await dashboard.page.getByRole('dialog').getByRole('button', { name: 'Lower' }).nth(index).click()
      await dashboard.page.getByLabel('Reason').fill('looked at it')
      await dashboard.page.getByLabel('Type LOWER to confirm').fill('lower')
      await dashboard.page.getByRole('button', { name: `Lower to ${expected}` }).click()
      const token = dashboard.page.getByRole('textbox', { name: 'Operator token' })
      await token.fill('wrong')
      await dashboard.page.getByRole('button', { name: 'Continue' }).click()
      await dashboard.page.getByText('This is not the operator token').waitFor()
      await token.fill(OPERATOR_TOKEN)
      await dashboard.page.getByRole('button', { name: 'Continue' }).click()
      await expect.poll(level).toBe(expected)
      await untilShown(expected)
      await dashboard.page.keyboard.press('Escape')
    }
  })

  it('reaches the kill switch on a phone', async () => {
    const phone = await openPage(dashboard.browser, dashboard.engine.dashboardUrl, {
      viewport: PHONE,
      hasTouch: true,
      isMobile: true,
    })
    await signIn(phone.page, dashboard.engine.dashboardUrl, TOKEN)
    const chip = phone.page.getByRole('navigation').getByRole('button', { name: /^Kill switch L/ })
    const box = await chip.boundingBox()
    expect(box?.y).toBeGreaterThan(PHONE.height * 0.8)
    expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44)
    await chip.tap()
    await phone.page.getByRole('dialog', { name: 'Kill switch' }).waitFor()
    expect(phone.problems).toEqual([])
    await phone.close()
  })

  it('has no errors on the page', () => {
    expect(dashboard.problems).toEqual([])
  })
})

const IS_FOCUSED = (element: unknown): boolean =>
  element === (globalThis as unknown as { document: { activeElement: unknown } }).document.activeElement
