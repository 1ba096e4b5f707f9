import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { emit, registerProducer, submit } from '../interface/acts.ts'
import { agreementOn, bullMarket } from '../interface/opinions.ts'
import { cleanUp, TOKEN } from '../interface/service.ts'
import {
  BROWSER,
  closePages,
  follow,
  launch,
  openPage,
  overflowsOn,
  PAGES,
  settled,
  signIn,
  type ObservedPage,
} from './browser.fixture.ts'
import { startEngine, type RunningEngine } from './engine.fixture.ts'

/** A text without a place to wrap. */
const long = (start: string, length = 80): string => start + 'x'.repeat(length - start.length)

/** Symbols of the maximum length. */
const SYMBOLS = [long('ETH', 32).toUpperCase(), long('SOL', 32).toUpperCase()]
const PRODUCER = long('producer-')
const CONTRIBUTOR = long('contributor-')
const REASON = long('reason-')

const DEVICES = [
  { name: 'phones', widths: [320, 375], options: { hasTouch: true, isMobile: true } },
  { name: 'desktops', widths: [768, 1440], options: { hasTouch: false, isMobile: false } },
] as const
const HEIGHT = 700

describe.skipIf(BROWSER === undefined)('names of 80 characters', () => {
  let browser: Browser
  let engine: RunningEngine
  beforeAll(async () => {
    ;[browser, engine] = await Promise.all([
      launch(),
      startEngine({
        SVC_UNIVERSE__SYMBOLS: ['BTC', ...SYMBOLS].join(','),
        SVC_EXECUTION__DCG_SYMBOLS: long('DOGE', 32).toUpperCase(),
      }),
    ])
    await registerProducer(engine, PRODUCER, 'technical')
    await bullMarket(engine)
    for (const symbol of SYMBOLS) {
      await emit(engine, PRODUCER, 'signal.price_ws.v1', { symbol, price: 100 })
      await agreementOn(engine, symbol, `${CONTRIBUTOR.slice(0, 79)}${SYMBOLS.indexOf(symbol)}`)
    }
    await engine.call('POST', '/brain/run')
    await vi.waitUntil(
      async () =>
        ((await engine.call('GET', '/positions')).body as readonly unknown[]).length === SYMBOLS.length,
    )
    // One position is closed at its target, one stays open with a loss.
    await emit(engine, PRODUCER, 'signal.price_ws.v1', { symbol: SYMBOLS[0], price: 111 })
    await emit(engine, PRODUCER, 'signal.price_ws.v1', { symbol: SYMBOLS[1], price: 98.6 })
    await submit(engine, `${CONTRIBUTOR.slice(0, 79)}0`, {
      symbol: SYMBOLS[1],
      direction: 'bearish',
      conviction: 7,
      rationale: REASON,
    })
    await engine.call('POST', '/kill-switch', { body: { level: 1, reason: REASON } })
  })
  afterAll(async () => {
    await closePages(browser)
    await cleanUp()
  })

  // Each page is opened once for all widths of a device.
  describe.each(DEVICES)('on $name', ({ widths, options }) => {
    const { isMobile } = options
    let observed: ObservedPage
    beforeAll(async () => {
      const viewport = { width: widths[0], height: HEIGHT }
      observed = await openPage(browser, engine.dashboardUrl, { viewport, ...options })
      await signIn(observed.page, engine.dashboardUrl, TOKEN)
    })
    afterAll(() => observed.close())

    it.each(PAGES)(`leave everything on %s in reach at ${widths.join(' and ')} px`, async (path, title) => {
      const { page } = observed
      await follow(page, path)
      const faults: string[] = []
      for (const width of widths) {
        const add = (fault: string): void => void faults.push(`${width} px: ${fault}`)
        await page.setViewportSize({ width, height: HEIGHT })
        await settled(page, title)
        if (await overflowsOn(page)) add(`wider than the screen: ${await tooWideOn(page)}`)
        // Includes elements wider than their container, such as a table on a phone.
        for (const what of await scrollersOn(page, isMobile)) add(`scrolls sideways: ${what}`)
        if (!(await isInReach(page, '[data-stale]'))) add('hides the kill switch')
        if (title === 'Positions') {
          const table = '[aria-label="List of open positions"]'
          // The loss is shown when the price has arrived, which may take a moment.
          await page.locator(`${table} tbody .text-bad`).first().waitFor({ state: 'attached' })
          if (!(await isInReach(page, `${table} tbody button[aria-label^="Close"]`))) add('hides Close')
          if (!(await isInReach(page, `${table} tbody .text-bad`))) add('hides the loss')
        }
      }
      expect(faults).toEqual([])
    })

    it('have no errors', () => {
      expect(observed.problems).toEqual([])
    })
  })
})

/** True if a visible element is within the screen from left to right, and not covered by another. */
const isInReach = (page: Page, selector: string): Promise<boolean> =>
  page.evaluate<boolean>(`[...document.querySelectorAll(${JSON.stringify(selector)})].some((element) => {
    element.scrollIntoView({ block: 'center', inline: 'nearest' })
    const scrolled = [...document.querySelectorAll('*')].some(({ scrollLeft }) => scrollLeft > 0)
    const { left, right, top, bottom, width } = element.getBoundingClientRect()
    if (scrolled || width === 0 || left < 0 || right > document.documentElement.clientWidth) return false
    const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
    return hit !== null && (element.contains(hit) || hit.contains(element))
  })`)

/** Regions that must be scrolled sideways. */
const scrollersOn = (page: Page, isPhone: boolean): Promise<readonly string[]> =>
  isPhone
    ? page.evaluate<readonly string[]>(`[...document.querySelectorAll('main *')]
        .filter((element) => ['auto', 'scroll'].includes(getComputedStyle(element).overflowX) && element.scrollWidth > element.clientWidth + 1)
        .map((element) => element.getAttribute('aria-label') ?? element.className)`)
    : Promise.resolve([])

/** Elements that reach beyond the right edge. */
const tooWideOn = (page: Page): Promise<string> =>
  page.evaluate<string>(`[...document.querySelectorAll('body *')]
    .filter((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .slice(-4)
    .map(({ tagName, className, textContent }) => [tagName, className, textContent.slice(0, 30)].join(' '))
    .join(' | ')`)
