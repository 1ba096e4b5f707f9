import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import axe, { type AxeResults } from 'axe-core'
import type { Browser, BrowserContextOptions, BrowserType, Page } from 'playwright-core'

const { findBrowser } = (await import(new URL('../../tools/setup.mjs', import.meta.url).href)) as {
  readonly findBrowser: () => string | undefined
}

/** Required, because an `import` of this package was once half loaded: `chromium` was undefined. */
const { chromium } = createRequire(import.meta.url)('playwright-core') as {
  readonly chromium: BrowserType
}

/** Path of the browser. Tests are skipped without one. */
export const BROWSER = findBrowser()

/**
 * One browser for all test files of this process, because a start takes longer than many tests. Every page has a
 * session of its own.
 */
export const launch = async (): Promise<Browser> => {
  const browser = await (running ??= start())
  if (browser.isConnected()) return browser
  return (running = start())
}

let running: Promise<Browser> | undefined

const start = async (): Promise<Browser> => {
  const browser = await chromium.launch({
    executablePath: BROWSER ?? '',
    // Without a graphics card, direct drawing in software costs less than emulating a card.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    handleSIGTERM: false,
  })
  // Vitest ends this process by a signal, and half a second later by force. Browser and profile must be closed at once.
  process.once('SIGTERM', () => process.exit())
  return browser
}

/** Closes the pages that the tests of a file opened. Call it in `afterAll`. */
export const closePages = async (browser: Browser): Promise<void> => {
  for (const context of browser.contexts()) await context.close()
}

export interface ObservedPage {
  readonly page: Page
  /** Errors, content blocked by the policy, and requests to other origins. */
  readonly problems: string[]
  readonly close: () => Promise<void>
}

/** A page with its own session, observed from its first request. */
export const openPage = async (
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<ObservedPage> => {
  const context = await browser.newContext({ viewport: DESKTOP, reducedMotion: 'reduce', ...options })
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`))
  page.on('console', (message) => {
    // The browser logs every error response; tests check those themselves.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      problems.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.origin !== origin && url.protocol !== 'data:') problems.push(`left the origin: ${url.href}`)
  })
  return { page, problems, close: () => context.close() }
}

export const DESKTOP = { width: 1440, height: 900 }
export const PHONE = { width: 375, height: 667 }

/** Signs in without the form, which would load a page more, and opens the address. */
export const signIn = async (page: Page, url: string, token: string): Promise<void> => {
  const { origin } = new URL(url)
  const request = { form: { token, next: '/' }, headers: { origin }, maxRedirects: 0 }
  const answer = await page.context().request.post(`${origin}/login`, request)
  if (answer.status() !== 303) throw new Error(`no sign-in: ${answer.status()} ${await answer.text()}`)
  await page.goto(url)
  await page.getByText('Live', { exact: true }).waitFor()
}

/** Signs in as a user does, with the form to which the address leads. */
export const signInByForm = async (page: Page, url: string, token: string): Promise<void> => {
  await page.goto(url)
  await page.fill('#token', token)
  await page.click('button[type=submit]')
  await page.getByText('Live', { exact: true }).waitFor()
}

export interface Rules {
  readonly only?: string
  readonly but?: string
}

/** Serious and critical findings of axe, one line each. */
export const violationsOn = async (page: Page, { only, but }: Rules = {}): Promise<readonly string[]> => {
  const options = {
    resultTypes: ['violations'],
    // Findings are reported by their HTML.
    selectors: false,
    ...(only === undefined ? {} : { runOnly: [only] }),
    ...(but === undefined ? {} : { rules: { [but]: { enabled: false } } }),
  }
  // Evaluated from outside the page, where its policy does not apply.
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axe.source)
  const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as AxeResults
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary ?? ''}`).join(' | ')}`,
    )
}

/** Names shared by several regions. */
export const repeatedRegionsOn = async (page: Page): Promise<readonly string[]> => {
  const regions = (await page.locator('main').ariaSnapshot()).match(/^\s*- region .*$/gm) ?? []
  const names = regions.map((line) => line.trim().replace(/:$/, ''))
  return names.filter((name, index) => names.indexOf(name) !== index)
}

/** Whether the page is wider than the screen. */
export const overflowsOn = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')

export const PAGES = [
  ['/', 'Overview'],
  ['/signals', 'Signals'],
  ['/positions', 'Positions'],
  ['/brain', 'Brain'],
  ['/contributors', 'Contributors'],
  ['/authors', 'Authors'],
  ['/producers', 'Producers'],
  ['/risk', 'Risk'],
  ['/alerts', 'Alerts'],
  ['/treasury', 'Treasury'],
  ['/audit', 'Audit'],
  ['/settings', 'Settings'],
] as const

/** Follows the link to the page. It loads the data of the page, but not the application again. */
export const follow = (page: Page, path: string): Promise<void> =>
  page.evaluate<void>(`document.querySelector('nav[aria-label="Pages"] a[href="${path}"]').click()`)

/**
 * Shows an address of the application, including its query. It loads the data of the page, but not the application
 * again.
 */
export const visit = (page: Page, path: string): Promise<void> =>
  page.evaluate<void>(`history.pushState(null, '', ${JSON.stringify(path)})`)

/** Waits until nothing is loading any more. */
export const settled = async (page: Page, title: string): Promise<void> => {
  await page.getByRole('heading', { name: title, level: 1 }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  await page.locator('.animate-spin').first().waitFor({ state: 'detached' })
  await drawn(page)
}

/** Waits for charts, which draw in the frame after their data, and for transitions, which may start each other. */
export const drawn = (page: Page): Promise<void> =>
  page.evaluate<void>(`(async () => {
    for (;;) {
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
      const ending = document.getAnimations().filter((one) => one.effect.getComputedTiming().endTime !== Infinity)
      if (ending.length === 0) return
      await Promise.allSettled(ending.map(({ finished }) => finished))
    }
  })()`)

const SCREENSHOTS = fileURLToPath(new URL('screenshots/', import.meta.url))

/** Takes a screenshot of the whole page for review: in full runs only (`npm test -- --full`). */
export const takeScreenshot = async (page: Page, name: string): Promise<void> => {
  if (process.env['SVC_TEST_FULL'] !== '1') return
  await page.screenshot({ path: `${SCREENSHOTS}${name.toLowerCase()}.png`, fullPage: true })
}

/** Controls lower than 40 px, including the padding around a link in a text. */
export const smallTargetsOn = (page: Page): Promise<readonly string[]> =>
  page.evaluate<
    readonly string[]
  >(`[...document.querySelectorAll('button, select, summary, input, nav a')].flatMap((control) => {
    const { width, height } = (control.matches('[type=radio], [type=checkbox]') ? control.closest('label') ?? control : control).getBoundingClientRect()
    const padding = Number.parseFloat(getComputedStyle(control, '::after').height) || 0
    return width === 0 || Math.max(height, padding) >= 40 ? [] : [control.outerHTML.slice(0, 120)]
  })`)
