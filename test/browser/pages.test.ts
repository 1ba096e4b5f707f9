import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { register, submit } from '../interface/acts.ts'
import { agreementOn, bullMarket } from '../interface/opinions.ts'
import { cleanUp, TOKEN } from '../interface/service.ts'
import {
  BROWSER,
  DESKTOP,
  follow,
  launch,
  openPage,
  overflowsOn,
  PAGES,
  PHONE,
  repeatedRegionsOn,
  takeScreenshot,
  settled,
  signIn,
  smallTargetsOn,
  violationsOn,
  closePages,
} from './browser.fixture.ts'
import { LIVELY, startEngine, type RunningEngine } from './engine.fixture.ts'

const TOUCH = { hasTouch: true, isMobile: true }
const MOUSE = { hasTouch: false, isMobile: false }

const VARIANTS = [
  { name: '1440', viewport: DESKTOP, colorScheme: 'light', rules: {}, ...MOUSE },
  // Only the colours differ from the light theme.
  { name: '1440-dark', viewport: DESKTOP, colorScheme: 'dark', rules: { only: 'color-contrast' }, ...MOUSE },
  { name: '375', viewport: PHONE, colorScheme: 'light', rules: { but: 'color-contrast' }, ...TOUCH },
  { name: '375-dark', viewport: PHONE, colorScheme: 'dark', rules: { only: 'color-contrast' }, ...TOUCH },
] as const

describe.skipIf(BROWSER === undefined)('every page', () => {
  let browser: Browser
  let engine: RunningEngine
  beforeAll(async () => {
    ;[browser, engine] = await Promise.all([launch(), startEngine(LIVELY)])
    await bullMarket(engine)
    for (const symbol of ['ETH', 'SOL']) await agreementOn(engine, symbol, `fan of ${symbol}`)
    await engine.call('POST', '/kill-switch', { body: { level: 1, reason: 'drill' } })
    await engine.call('POST', '/kill-switch', { body: { level: 0, reason: 'drill over' } })
    // The first trade needs a price of the simulated market.
    await vi.waitFor(
      async () => {
        await engine.call('POST', '/brain/run')
        if ((await positions()) === 0) throw new Error('no position yet')
      },
      { timeout: 60_000, interval: 500 },
    )
    await register(engine, 'mallory')
    for (const rationale of HOSTILE) {
      await submit(engine, 'mallory', { symbol: 'BTC', direction: 'bearish', conviction: 3, rationale })
    }
  })
  const positions = async (): Promise<number> =>
    ((await engine.call('GET', '/positions')).body as readonly object[]).length
  afterAll(async () => {
    await closePages(browser)
    await cleanUp()
  })

  it.each(VARIANTS)(
    'works at $name, is accessible and sends no request to another origin',
    async ({ name, rules, ...options }) => {
      const { page, problems, close } = await openPage(browser, engine.dashboardUrl, options)
      await signIn(page, engine.dashboardUrl, TOKEN)
      const faults: string[] = []
      for (const [path, title] of PAGES) {
        // That each can be opened by its address is the same at every width and in every theme.
        if (name === '1440') await page.goto(engine.dashboardUrl + path)
        else await follow(page, path)
        await settled(page, title)
        faults.push(...(await violationsOn(page, rules)).map((violation) => `${path} ${violation}`))
        faults.push(...(await repeatedRegionsOn(page)).map((region) => `${path} has two regions ${region}`))
        if (await overflowsOn(page)) faults.push(`${path} is wider than the screen`)
        if (options.isMobile)
          faults.push(...(await smallTargetsOn(page)).map((control) => `${path} ${control}`))
        await takeScreenshot(page, `${title}-${name}`)
      }
      expect(faults).toEqual([])
      expect(problems).toEqual([])
      await close()
    },
    180_000,
  )
})

const HOSTILE = [
  '<script>document.title = "owned"</script><img src=x onerror="document.title = \'owned\'">',
  'very long '.repeat(1900),
  '\u202Eright to left \u2066and hidden\u0007',
  'x'.repeat(15_000),
]
