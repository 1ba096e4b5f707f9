import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, newHome, svc } from '../interface/service.ts'
import {
  BROWSER,
  DESKTOP,
  launch,
  openPage,
  overflowsOn,
  PHONE,
  takeScreenshot,
  violationsOn,
  closePages,
} from './browser.fixture.ts'

const VARIANTS = [
  { name: '1440', viewport: DESKTOP, colorScheme: 'light', rules: {} },
  // Only the colours differ from the light theme.
  { name: '375-dark', viewport: PHONE, colorScheme: 'dark', rules: { only: 'color-contrast' } },
] as const

describe.skipIf(BROWSER === undefined)('the report of a backtest', () => {
  let browser: Browser
  let file: string
  beforeAll(async () => {
    const home = await newHome()
    file = join(home, 'report.html')
    const range = ['--symbol', 'BTC', '--from', '2026-01-01', '--to', '2026-02-05']
    const words = ['backtest', 'ma_crossover', 'momentum', ...range, '--reset-daily']
    const { exitCode, stderr } = await svc(home, [...words, '--html', file])
    if (exitCode !== 0) throw new Error(stderr)
    browser = await launch()
  })
  afterAll(async () => {
    await closePages(browser)
    await rm(file, { force: true })
    await cleanUp()
  })

  it.each(VARIANTS)('opens without a network at $name', async ({ name, rules, ...options }) => {
    const { page, problems, close } = await openPage(browser, 'null', { ...options, offline: true })
    await page.goto(pathToFileURL(file).href)
    await page.getByRole('heading', { name: 'Backtest of ma_crossover, momentum' }).waitFor()
    expect(await page.locator('figure.candles').count()).toBeGreaterThan(0)
    expect(await overflowsOn(page)).toBe(false)
    expect(await violationsOn(page, rules)).toEqual([])
    await takeScreenshot(page, `backtest-report-${name}`)
    // Each trade says why it was opened, without a script.
    const why = page.locator('details.why').first()
    // Many trades are folded away.
    if (!(await why.isVisible()))
      await page
        .locator('summary', { hasText: /^\d+ trades$/ })
        .first()
        .click()
    await why.locator('summary').click()
    await why.getByText(/^ma_crossover: (long|short) BTC/).waitFor()
    await why.scrollIntoViewIfNeeded()
    expect(await overflowsOn(page)).toBe(false)
    expect(await violationsOn(page, rules)).toEqual([])
    await takeScreenshot(page, `backtest-report-why-${name}`)
    // One request: the page itself.
    expect(problems.filter((problem) => !problem.includes(file))).toEqual([])
    await close()
  })
})
