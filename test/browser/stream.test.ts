import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { register, submit } from '../interface/acts.ts'
import { cleanUp, TOKEN } from '../interface/service.ts'
import { BROWSER, launch, openPage, signIn } from './browser.ts'
import { headSeq, startEngine, type PaperEngine } from './engine.ts'

describe.skipIf(BROWSER === undefined)('the live line', () => {
  let browser: Browser
  let engine: PaperEngine
  beforeAll(async () => {
    ;[browser, engine] = await Promise.all([launch(), startEngine()])
    await register(engine, 'ann')
  })
  afterAll(async () => {
    await browser.close()
    await cleanUp()
  })
  const say = (rationale: string): Promise<string> => submit(engine, 'ann', { symbol: 'BTC', rationale })

  /** What the page counted since it was loaded. */
  const counted = async (page: Page): Promise<number> => {
    const title = await page.getByTitle(/events since the page was loaded$/).getAttribute('title')
    return Number.parseInt(title ?? '', 10)
  }

  it('keeps up with 100 events a second without asking for everything each time', async () => {
    const { page, complaints, close } = await openPage(browser, engine.dashboardUrl)
    await signIn(page, engine.dashboardUrl, TOKEN)
    await page.goto(`${engine.dashboardUrl}/signals`)
    await page.getByText('Live', { exact: true }).waitFor()
    const before = (await headSeq(engine)) - (await counted(page))
    let requests = 0
    page.on('request', () => (requests += 1))
    await page.evaluate(`globalThis.longTasksMs = 0;
      new PerformanceObserver((list) => { for (const task of list.getEntries()) longTasksMs += task.duration })
        .observe({ type: 'longtask' })`)
    const startedMs = performance.now()
    // Each submission is three events: the signal, its attribution, and the audit.
    for (let round = 0; round < 25; round += 1) {
      await Promise.all(Array.from({ length: 8 }, (_, index) => say(`round ${round}, ${index}`)))
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    const seconds = (performance.now() - startedMs) / 1000
    await expect.poll(() => counted(page), { timeout: 10_000 }).toBe((await headSeq(engine)) - before)
    const longTasksMs = await page.evaluate<number>('longTasksMs')
    const nodes = await page.evaluate<number>(`document.querySelectorAll('*').length`)
    // Generous: what matters is that neither grows with the number of events.
    expect(requests).toBeLessThan(20 * seconds + 40)
    expect(nodes).toBeLessThan(5000)
    expect(longTasksMs).toBeLessThan(seconds * 1000 * 0.75)
    expect(complaints).toEqual([])
    await close()
  })

  it('comes back by itself after a restart, with every event once', async () => {
    const { page, close } = await openPage(browser, engine.dashboardUrl)
    await signIn(page, engine.dashboardUrl, TOKEN)
    const before = (await headSeq(engine)) - (await counted(page))
    await say('before the restart')
    const ports = {
      SVC_API__PORT: new URL(engine.baseUrl).port,
      SVC_DASHBOARD__PORT: new URL(engine.dashboardUrl).port,
    }
    await engine.stop()
    await page.getByText('The line to the service is down').waitFor()
    await page
      .getByText(/^stale/)
      .first()
      .waitFor()
    engine = await startEngine(ports, engine.home)
    await say('after the restart')
    await page.getByText('Live', { exact: true }).waitFor()
    await expect
      .poll(async () => before + (await counted(page)), { timeout: 10_000 })
      .toBe(await headSeq(engine))
    await say('and on it goes')
    await expect
      .poll(async () => before + (await counted(page)), { timeout: 10_000 })
      .toBe(await headSeq(engine))
    await close()
  })
})
