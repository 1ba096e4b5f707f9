import { mkdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { register, submit } from '../interface/acts.ts'
import { agreementOn, bullMarket } from '../interface/opinions.ts'
import { cleanUp, TOKEN } from '../interface/service.ts'
import { BROWSER, DESKTOP, launch, openPage, overflowsOn, PHONE, signIn, violationsOn } from './browser.ts'
import { LIVELY, startEngine, type PaperEngine } from './engine.ts'

const FOLDER = fileURLToPath(new URL('screenshots/', import.meta.url))

const PAGES = [
  ['/', 'Overview'],
  ['/signals', 'Signals'],
  ['/positions', 'Positions'],
  ['/brain', 'Brain'],
  ['/contributors', 'Contributors'],
  ['/producers', 'Producers'],
  ['/risk', 'Risk'],
  ['/treasury', 'Treasury'],
  ['/audit', 'Audit'],
  ['/settings', 'Settings'],
] as const

const LOOKS = [
  { name: '1440', viewport: DESKTOP, colorScheme: 'light', rules: {} },
  // What the first look found well differs here only by its colours.
  { name: '1440-dark', viewport: DESKTOP, colorScheme: 'dark', rules: { only: 'color-contrast' } },
  { name: '375', viewport: PHONE, colorScheme: 'light', rules: { but: 'color-contrast' } },
] as const

describe.skipIf(BROWSER === undefined)('every page', () => {
  let browser: Browser
  let engine: PaperEngine
  beforeAll(async () => {
    await mkdir(FOLDER, { recursive: true })
    ;[browser, engine] = await Promise.all([launch(), startEngine(LIVELY)])
    await bullMarket(engine)
    for (const symbol of ['ETH', 'SOL']) await agreementOn(engine, symbol, `fan of ${symbol}`)
    await engine.call('POST', '/kill-switch', { body: { level: 1, reason: 'a drill' } })
    await engine.call('POST', '/kill-switch', { body: { level: 0, reason: 'the drill is over' } })
    // The market needs a moment for its first price, and the brain for its first trade.
    for (let attempt = 0; attempt < 20 && (await positions()) === 0; attempt += 1) {
      await sleep(1000)
      await engine.call('POST', '/brain/run')
    }
    await register(engine, 'mallory')
    for (const rationale of HOSTILE) {
      await submit(engine, 'mallory', { symbol: 'BTC', direction: 'bearish', conviction: 3, rationale })
    }
  })
  const positions = async (): Promise<number> =>
    ((await engine.call('GET', '/positions')).body as readonly object[]).length
  afterAll(async () => {
    await browser.close()
    await cleanUp()
  })

  it.each(LOOKS)(
    'works at $name, is accessible, stays at home, and is photographed',
    async ({ name, rules, ...look }) => {
      const { page, complaints, close } = await openPage(browser, engine.dashboardUrl, look)
      await signIn(page, engine.dashboardUrl, TOKEN)
      const faults: string[] = []
      for (const [path, title] of PAGES) {
        await page.goto(engine.dashboardUrl + path)
        await settled(page, title)
        faults.push(...(await violationsOn(page, rules)).map((violation) => `${path} ${violation}`))
        if (await overflowsOn(page)) faults.push(`${path} is wider than the screen`)
        await page.screenshot({ path: `${FOLDER}${title.toLowerCase()}-${name}.png`, fullPage: true })
      }
      expect(faults).toEqual([])
      expect(complaints).toEqual([])
      await close()
    },
    180_000,
  )
})

/** Nothing is loading any more. */
const settled = async (page: Page, title: string): Promise<void> => {
  await page.getByRole('heading', { name: title, level: 1 }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  await page.locator('.animate-spin').first().waitFor({ state: 'detached' })
  // Charts draw in the frame after their data.
  await page.waitForTimeout(300)
}

const HOSTILE = [
  '<script>document.title = "owned"</script><img src=x onerror="document.title = \'owned\'">',
  'very long '.repeat(1900),
  '\u202Eright to left \u2066and hidden\u0007',
  'x'.repeat(15_000),
]
