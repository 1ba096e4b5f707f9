import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, TOKEN } from '../interface/service.ts'
import { BROWSER, DESKTOP, launch, signIn, closePages } from './browser.fixture.ts'
import { startEngineProcess } from './engine.fixture.ts'
import type { Browser } from 'playwright-core'

/** More than the six connections that a browser opens to one host. */
const TABS = 8

/** Polled rarely: the age is shown in whole seconds, and reading the page takes time from other tests. */
const SELDOM = { interval: 500 }

const badge = (page: Page) => page.getByRole('status', { name: 'Connection' })
const chip = (page: Page) => page.getByRole('button', { name: /^Kill switch L/ }).first()

describe.skipIf(BROWSER === undefined)('the connection to the service', () => {
  let browser: Browser
  let engine: Awaited<ReturnType<typeof startEngineProcess>>
  let context: BrowserContext
  const tabs: Page[] = []
  beforeAll(async () => {
    ;[browser, engine] = await Promise.all([launch(), startEngineProcess()])
    context = await browser.newContext({ viewport: DESKTOP })
    const first = await context.newPage()
    await signIn(first, engine.dashboardUrl, TOKEN)
    tabs.push(first)
  })
  afterAll(async () => {
    await closePages(browser)
    await cleanUp()
  })

  /** Number of event streams that the service has open. */
  const openStreams = async (): Promise<number> => {
    const { text } = await engine.call('GET', '//metrics')
    return Number(/^svc_stream_clients (\d+)$/m.exec(text)?.[1] ?? Number.NaN)
  }

  it(`is one stream for ${TABS} tabs, and each of them works`, async () => {
    while (tabs.length < TABS) {
      const tab = await context.newPage()
      await tab.goto(engine.dashboardUrl)
      await tab.getByText('Live', { exact: true }).waitFor()
      tabs.push(tab)
    }
    expect(await openStreams()).toBe(1)
    const last = tabs.at(-1) as Page
    await chip(last).click()
    const dialog = last.getByRole('dialog', { name: 'Kill switch' })
    await dialog.getByRole('button', { name: 'Raise' }).first().click()
    await last.getByRole('button', { name: 'Raise to 1' }).click()
    await last.getByText('Kill switch is at 1').waitFor()
    for (const tab of tabs) await expect.poll(() => chip(tab).textContent()).toContain('L1')
  })

  it('goes on for the other tabs when the first one is closed', async () => {
    await tabs.shift()?.close()
    await engine.call('POST', '/kill-switch', { body: { level: 2, reason: 'drill' } })
    for (const tab of tabs) await expect.poll(() => chip(tab).textContent()).toContain('L2')
    expect(await openStreams()).toBe(1)
  })

  it('says for how long a frozen service was not heard, and recovers when it goes on', async () => {
    const page = tabs[0] as Page
    await page.bringToFront()
    engine.signal('SIGSTOP')
    try {
      // The service sends something every 15 seconds.
      await expect.poll(() => badge(page).textContent(), SELDOM).toMatch(/^Nothing heard for \d+ s$/)
      const seconds = Number.parseInt(/\d+/.exec((await badge(page).textContent()) ?? '')?.[0] ?? '', 10)
      expect(seconds).toBeGreaterThanOrEqual(20)
      expect(seconds).toBeLessThan(30)
      await expect.poll(() => chip(page).getAttribute('data-stale')).toBe('true')
      // Nothing on the page is shown as live any more.
      expect(await page.getByText(/^live$/i).count()).toBe(0)
      await expect.poll(() => page.getByText(/^stale/).count()).toBeGreaterThan(3)
      // The connection is dropped and retried, and the age keeps counting.
      await page.getByText('No connection to the service').waitFor({ timeout: 40_000 })
      await expect
        .poll(() => badge(page).textContent(), SELDOM)
        .toMatch(/^Nothing heard for (3[1-9]|[4-9]\d) s$/)
      // The dialog works with the last known level. Its request has a time limit.
      await chip(page).click()
      const dialog = page.getByRole('dialog', { name: 'Kill switch' })
      await dialog.getByText(/^Last known level/).waitFor()
      await dialog.getByRole('button', { name: 'Raise' }).first().click()
      await page.getByRole('button', { name: 'Raise to 3' }).click()
      await dialog
        .getByRole('alert')
        .getByText(/No answer within 10 s/)
        .waitFor({ timeout: 15_000 })
    } finally {
      engine.signal('SIGCONT')
    }
    // Elements behind a dialog have no role, so it is closed first.
    await page.keyboard.press('Escape')
    await expect.poll(() => badge(page).textContent()).toBe('Live')
    await expect.poll(() => chip(page).getAttribute('data-stale')).toBe('false')
    expect(await page.getByText(/^stale/).count()).toBe(0)
  })

  it('is a stream of its own where the browser has no shared workers, and only while the page is seen', async () => {
    const before = await openStreams()
    const alone = await browser.newContext({ viewport: DESKTOP })
    await alone.addInitScript('delete globalThis.SharedWorker')
    const page = await alone.newPage()
    await signIn(page, engine.dashboardUrl, TOKEN)
    expect(await page.evaluate('typeof SharedWorker')).toBe('undefined')
    expect(await openStreams()).toBe(before + 1)
    await engine.call('POST', '/kill-switch', { body: { level: 3, reason: 'drill' } })
    await expect.poll(() => chip(page).textContent()).toContain('L3')
    const see = (isHidden: boolean): Promise<unknown> =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} });
        document.dispatchEvent(new Event('visibilitychange'))`,
      )
    await see(true)
    await expect.poll(() => openStreams()).toBe(before)
    await engine.call('POST', '/kill-switch', { body: { level: 1, reason: 'drill' } })
    // A visible page catches up with the events it missed.
    await see(false)
    await expect.poll(() => chip(page).textContent()).toContain('L1')
    await expect.poll(() => badge(page).textContent()).toBe('Live')
    expect(await openStreams()).toBe(before + 1)
    await alone.close()
  })
})
