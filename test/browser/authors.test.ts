import { expect, it, describe, beforeAll, afterAll } from 'vitest'
import type { Browser, Page } from 'playwright-core'
import { cleanUp, TOKEN } from '../interface/service.ts'
import { homeWithAuthors } from './authors.fixture.ts'
import {
  BROWSER,
  launch,
  openPage,
  overflowsOn,
  repeatedRegionsOn,
  settled,
  signIn,
  takeScreenshot,
  violationsOn,
  closePages,
} from './browser.fixture.ts'
import { startEngine, type RunningEngine } from './engine.fixture.ts'

const LONG_NAME = `Ann ${'of the long names '.repeat(5)}`.slice(0, 80)

describe.skipIf(BROWSER === undefined)('the page about authors', () => {
  let browser: Browser
  let engine: RunningEngine
  let page: Page
  let problems: readonly string[]
  beforeAll(async () => {
    const started = homeWithAuthors(40, { ann: LONG_NAME }).then((home) => startEngine({}, home))
    ;[browser, engine] = await Promise.all([launch(), started])
    ;({ page, problems } = await openPage(browser, engine.dashboardUrl))
    await signIn(page, `${engine.dashboardUrl}/authors`, TOKEN)
    await settled(page, 'Authors')
  })
  afterAll(async () => {
    await closePages(browser)
    await cleanUp()
  })

  it('shows skill with its interval, calibration, contribution and who moves together', async () => {
    const table = page.getByRole('region', { name: 'Authors by what they add' })
    await table
      .getByRole('row', { name: /Ann of the long/ })
      .getByText('better than chance')
      .waitFor()
    await table
      .getByRole('row', { name: /technical-analysis/ })
      .getByText('worse than chance')
      .waitFor()
    await table.getByRole('row', { name: /bob/ }).getByText('repeats another').waitFor()
    await page
      .getByRole('img', { name: /^Hit rate by stated probability: stated \d+ %, \d+ % hits/ })
      .waitFor()
    await page.getByRole('img', { name: /^Contribution over time: [+−]\d/ }).waitFor()
    const together = page.getByRole('region', { name: 'Authors who move together' })
    await together.getByText('bob').waitFor()
    expect(await repeatedRegionsOn(page)).toEqual([])
  })

  it.each([
    [320, 'light'],
    [375, 'dark'],
    [768, 'light'],
    [1440, 'dark'],
  ] as const)('fits on a screen of %i px, %s', async (width, colorScheme) => {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 900 })
    await settled(page, 'Authors')
    expect(await overflowsOn(page)).toBe(false)
    expect(await violationsOn(page)).toEqual([])
    await takeScreenshot(page, `authors-${width}`)
  })

  it('explains one author, and the profile of a contributor does so, too', async () => {
    await page.getByRole('row', { name: /bob/ }).getByRole('button').click()
    const sheet = page.getByRole('dialog', { name: 'Author' })
    await sheet.getByText('speaks before it').waitFor()
    await sheet.getByText('same group').waitFor()
    await sheet.getByText(/^\d+ % was said before: the rest must be surer$/).waitFor()
    expect(await sheet.getByRole('row', { name: /BTC/ }).count()).toBe(20)
    expect(await violationsOn(page)).toEqual([])
    for (const width of [375, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      expect(await overflowsOn(page)).toBe(false)
      await takeScreenshot(page, `authors-explained-${width}`)
    }
    await sheet.getByRole('link', { name: 'Profile and score' }).click()
    const profile = page.getByRole('dialog', { name: 'Contributor' })
    await profile.getByRole('heading', { name: 'What its calls add' }).waitFor()
    await profile.getByRole('img', { name: /^Contribution over time/ }).waitFor()
    await profile.getByRole('heading', { name: /^Score \d/ }).waitFor()
    for (const width of [320, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      expect(await overflowsOn(page)).toBe(false)
    }
    await takeScreenshot(page, 'authors-profile')
    expect(problems).toEqual([])
  })

  it('says of an author that is unknown that it is', async () => {
    await page.goto(`${engine.dashboardUrl}/authors?author=producer:nobody`)
    await page.getByRole('dialog', { name: 'Author' }).getByText('Not registered or removed').waitFor()
  })
})
