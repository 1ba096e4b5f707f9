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
  type ObservedPage,
  type Rules,
} from './browser.fixture.ts'
import { LIVELY, startEngine, type RunningEngine } from './engine.fixture.ts'

const DEVICES = [
  { name: '1440', viewport: DESKTOP, hasTouch: false, isMobile: false, rules: {} },
  { name: '375', viewport: PHONE, hasTouch: true, isMobile: true, rules: { but: 'color-contrast' } },
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

  // Each page is opened once for both themes.
  describe.each(DEVICES)('at $name', ({ name, rules, ...options }) => {
    let observed: ObservedPage
    beforeAll(async () => {
      observed = await openPage(browser, engine.dashboardUrl, options)
      await signIn(observed.page, engine.dashboardUrl, TOKEN)
    })
    afterAll(() => observed.close())

    it.each(PAGES)('%s works and is accessible, in the light theme and the dark one', async (path, title) => {
      const { page } = observed
      const faults: string[] = []
      const findFaults = async (theme: string, axeRules: Rules): Promise<void> => {
        const add = (found: readonly string[]): void =>
          void faults.push(...found.map((fault) => `${theme}: ${fault}`))
        add(await violationsOn(page, axeRules))
        add((await repeatedRegionsOn(page)).map((region) => `two regions ${region}`))
        if (await overflowsOn(page)) add(['wider than the screen'])
        if (options.isMobile) add(await smallTargetsOn(page))
      }
      await page.emulateMedia({ colorScheme: 'light' })
      // Opening a page by its address is tested on the desktop only: it is the same at every width and in every theme.
      if (options.isMobile) await follow(page, path)
      else await page.goto(engine.dashboardUrl + path)
      await settled(page, title)
      await findFaults('light', rules)
      await takeScreenshot(page, `${title}-${name}`)
      await page.emulateMedia({ colorScheme: 'dark' })
      await settled(page, title)
      // Only the colours differ from the light theme.
      await findFaults('dark', { only: 'color-contrast' })
      await takeScreenshot(page, `${title}-${name}-dark`)
      expect(faults).toEqual([])
    })

    it('no page has errors or sends a request to another origin', () => {
      expect(observed.problems).toEqual([])
    })
  })
})

const HOSTILE = [
  '<script>document.title = "owned"</script><img src=x onerror="document.title = \'owned\'">',
  'very long '.repeat(1900),
  '\u202Eright to left \u2066and hidden\u0007',
  'x'.repeat(15_000),
]
