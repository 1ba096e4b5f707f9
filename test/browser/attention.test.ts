import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { TOKEN } from '../interface/service.ts'
import { BROWSER, openPage, overflowsOn, signIn, smallTargetsOn, violationsOn } from './browser.fixture.ts'
import { price, twoIntents } from './engine.fixture.ts'
import { useSignedInPage } from './signed-in-page.fixture.ts'

const WIDTHS = [320, 375, 768, 1440]

/** Counts what the browser is asked to show and to play. */
const SPY = `
  globalThis.announced = []
  const Real = globalThis.Notification
  globalThis.Notification = class extends EventTarget {
    static permission = 'granted'
    static requestPermission = () => Real.requestPermission().then(() => 'granted')
    constructor(title) { super(); announced.push(title) }
    close() {}
  }
  const play = AudioContext.prototype.createOscillator
  AudioContext.prototype.createOscillator = function () { announced.push('tone'); return play.call(this) }`

const approval = (page: Page) => page.getByRole('region', { name: 'Waiting for your approval' })
const newestAlert = (page: Page) => page.getByRole('region', { name: 'Alert to acknowledge' })
const pages = (page: Page) => page.getByRole('navigation', { name: 'Pages', exact: true })

/** In one task, as when the page is too busy to draw between two presses. */
const PRESS_THRICE = (button: unknown): void => {
  for (let press = 0; press < 3; press += 1) (button as { click: () => void }).click()
}

/** The last part of each path that something is sent to from now on. */
const writesOf = (page: Page): readonly string[] => {
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(new URL(request.url()).pathname.split('/').at(-1) ?? '')
  })
  return sent
}

describe.skipIf(BROWSER === undefined)('what waits for an operator', () => {
  const dashboard = useSignedInPage({
    variables: { SVC_EXECUTION__REQUIRE_APPROVAL: 'true' },
    prepare: twoIntents,
    path: '/audit',
  })
  const answer = async (path: string): Promise<unknown> => (await dashboard.engine.call('GET', path)).body
  const go = async (page: Page, title: string): Promise<void> => {
    await pages(page).getByRole('link', { name: title }).click()
    await page.getByRole('heading', { name: title, level: 1 }).waitFor()
  }

  it.each(WIDTHS)('stands on every page at %i px, with its time left and both answers', async (width) => {
    const { page } = dashboard
    await page.setViewportSize({ width, height: 800 })
    await expect.poll(() => page.title()).toMatch(/^\(2\) Audit/)
    await approval(page)
      .getByText(/^expires in (\d+ min|\d+ s)/)
      .waitFor()
    for (const name of [/^Approve long/, /^Deny long/]) {
      const box = await approval(page).getByRole('button', { name }).boundingBox()
      expect((box?.x ?? -1) >= 0 && (box?.x ?? 0) + (box?.width ?? 0) <= width).toBe(true)
    }
    await approval(page).getByText('1 more').waitFor()
    const counted =
      width < 768
        ? pages(page).getByRole('button', { name: 'More 2 waiting' })
        : pages(page).getByRole('link', { name: 'Risk 2 waiting' })
    await counted.waitFor()
    expect(await overflowsOn(page)).toBe(false)
  })

  it('counts down', async () => {
    const left = (): Promise<string | null> => approval(dashboard.page).locator('time').textContent()
    const before = await left()
    await expect.poll(left).not.toBe(before)
  })

  it('is answered as the question says, though the banner shows the next one by then', async () => {
    const { page, engine } = dashboard
    await go(page, 'Treasury')
    await approval(page).getByRole('button', { name: 'Approve long ETH' }).click()
    const waiting = await answer('/intents?status=awaiting_approval')
    const id = (waiting as readonly { symbol: string; intent_id: string }[]).find(
      ({ symbol }) => symbol === 'ETH',
    )?.intent_id
    await engine.call('POST', `/intents/${id}/approve`)
    await expect.poll(() => page.title()).toMatch(/^\(1\) Treasury/)
    await page
      .getByRole('dialog', { name: 'Approve long ETH' })
      .getByRole('button', { name: 'Approve' })
      .click()
    await page.getByRole('status').getByText('does not wait').waitFor()
    await expect.poll(() => answer('/positions')).toMatchObject([{ asset: 'ETH' }])
    expect(await answer('/intents?status=awaiting_approval')).toMatchObject([{ symbol: 'SOL' }])
  })

  it('is denied from any page, by one request however often the button is pressed', async () => {
    const { page } = dashboard
    const sent = writesOf(page)
    await approval(page).getByRole('button', { name: 'Deny long SOL' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Deny' }).evaluate(PRESS_THRICE)
    await approval(page).waitFor({ state: 'detached' })
    await expect.poll(() => page.title()).toBe('Treasury – Signal Engine')
    expect(sent).toEqual(['deny'])
  })

  it('announces an alert in one of several tabs, only where it was asked for', async () => {
    const { page } = dashboard
    const context = page.context()
    await context.grantPermissions(['notifications'])
    await page.evaluate(SPY)
    const [other, third] = [await context.newPage(), await context.newPage()]
    for (const tab of [other, third]) {
      await tab.addInitScript(SPY)
      await tab.goto(`${dashboard.engine.dashboardUrl}/alerts`)
      await tab.getByText('Nothing needs attention').waitFor()
    }
    for (const label of ['Browser notification', 'Sound']) {
      await other.getByLabel(label).click()
      for (const tab of [other, third]) await expect.poll(() => tab.getByLabel(label).isChecked()).toBe(true)
    }
    const announced = async (): Promise<readonly string[]> =>
      (await Promise.all([page, other, third].map((tab) => tab.evaluate<readonly string[]>('announced'))))
        .flat()
        .toSorted()
    // Turning the sound on plays it once.
    await expect.poll(announced).toEqual(['tone'])
    await price(dashboard.engine, 'ETH', 111)
    await expect.poll(announced).toEqual(['target hit', 'tone', 'tone'])
    await other.close()
    await third.close()
  })

  it('shows a target that was hit as what it is, with a link to the position', async () => {
    const { page } = dashboard
    await newestAlert(page)
      .getByText(/^long ETH closed with \+\$\d+\.\d\d, from \$100\.\d+ to \$11\d\.\d+$/)
      .waitFor()
    const badge = newestAlert(page).getByText('target hit', { exact: true })
    expect(await badge.getAttribute('class')).toContain('text-good')
    await pages(page).getByRole('link', { name: 'Alerts 1 waiting' }).waitFor()
    expect(await page.title()).toMatch(/^\(1\) /)
    await newestAlert(page).getByRole('link', { name: 'Position' }).click()
    await page.getByRole('dialog').getByText('Why it was opened').waitFor()
    await page.keyboard.press('Escape')
  })

  it('is acknowledged for every tab, and for good', async () => {
    const { page, engine, browser } = dashboard
    await engine.call('POST', '/kill-switch', { body: { level: 1, reason: 'daily_loss_pct=0.0312' } })
    await go(page, 'Alerts')
    const open = page.getByRole('list', { name: 'Alerts to acknowledge' })
    await open.getByText('daily loss 3.12 %').waitFor()
    expect(await open.getByRole('listitem').count()).toBe(2)
    const elsewhere = await openPage(browser, engine.dashboardUrl)
    await signIn(elsewhere.page, engine.dashboardUrl, TOKEN)
    await newestAlert(elsewhere.page).getByText('kill switch raised to 1, caution').waitFor()
    const sent = writesOf(page)
    await open.getByRole('button', { name: 'Acknowledge' }).first().evaluate(PRESS_THRICE)
    await newestAlert(elsewhere.page).getByText('target hit').waitFor()
    expect(sent).toEqual(['acknowledge'])
    await newestAlert(elsewhere.page).getByRole('button', { name: 'Acknowledge' }).click()
    await page.getByText('Nothing needs attention').waitFor()
    await elsewhere.close()
    await dashboard.restart()
    await page.reload()
    await page.getByText('Nothing needs attention').waitFor()
    expect(await answer('/alerts')).toEqual({ open: [] })
  })

  it('is accessible, and can be hit with a finger', async () => {
    const { engine, browser } = dashboard
    await engine.call('POST', '/kill-switch', { body: { level: 2, reason: 'drill' } })
    const phone = await openPage(browser, engine.dashboardUrl, {
      viewport: { width: 320, height: 640 },
      hasTouch: true,
      isMobile: true,
    })
    await signIn(phone.page, `${engine.dashboardUrl}/alerts`, TOKEN)
    await newestAlert(phone.page).waitFor()
    expect(await violationsOn(phone.page)).toEqual([])
    expect(await smallTargetsOn(phone.page)).toEqual([])
    expect(await overflowsOn(phone.page)).toBe(false)
    expect([...phone.problems, ...dashboard.problems]).toEqual([])
    await phone.close()
  })
})
