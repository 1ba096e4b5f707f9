import { fileURLToPath } from 'node:url'
import axe, { type AxeResults } from 'axe-core'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'

const { findBrowser } = (await import(new URL('../../tools/setup.mjs', import.meta.url).href)) as {
  readonly findBrowser: () => string | undefined
}

/** Where the browser is; tests are skipped without one. */
export const BROWSER = findBrowser()

export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath: BROWSER ?? '', args: ['--no-sandbox', '--disable-dev-shm-usage'] })

export interface Watched {
  readonly page: Page
  /** What the page complained about: errors, refused by the policy, requests that left the origin. */
  readonly complaints: string[]
  readonly close: () => Promise<void>
}

/** A page of its own session, watched from its first request. */
export const openPage = async (
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<Watched> => {
  const context = await browser.newContext({ viewport: DESKTOP, ...options })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  page.on('console', (message) => {
    // A refused answer is logged by the browser itself; whether it should have been is for the test to say.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.origin !== origin && url.protocol !== 'data:') complaints.push(`left the origin: ${url.href}`)
  })
  return { page, complaints, close: () => context.close() }
}

export const DESKTOP = { width: 1440, height: 900 }
export const PHONE = { width: 375, height: 667 }

export const signIn = async (page: Page, url: string, token: string): Promise<void> => {
  await page.goto(url)
  await page.fill('#token', token)
  await page.click('button[type=submit]')
  await page.getByText('Live', { exact: true }).waitFor()
}

export interface Rules {
  readonly only?: string
  readonly but?: string
}

/** What axe calls serious or worse, in one line each. */
export const violationsOn = async (page: Page, { only, but }: Rules = {}): Promise<readonly string[]> => {
  const options = {
    resultTypes: ['violations'],
    ...(only === undefined ? {} : { runOnly: [only] }),
    ...(but === undefined ? {} : { rules: { [but]: { enabled: false } } }),
  }
  // Evaluated from outside the page, so that its policy does not forbid it.
  await page.evaluate(axe.source)
  const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as AxeResults
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary ?? ''}`).join(' | ')}`,
    )
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
  ['/producers', 'Producers'],
  ['/risk', 'Risk'],
  ['/treasury', 'Treasury'],
  ['/audit', 'Audit'],
  ['/settings', 'Settings'],
] as const

/** Nothing is loading any more. */
export const settled = async (page: Page, title: string): Promise<void> => {
  await page.getByRole('heading', { name: title, level: 1 }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  await page.locator('.animate-spin').first().waitFor({ state: 'detached' })
  // Charts draw in the frame after their data.
  await page.waitForTimeout(300)
}

const SCREENSHOTS = fileURLToPath(new URL('screenshots/', import.meta.url))

/** The whole page, in the folder that people look at. */
export const photograph = async (page: Page, name: string): Promise<void> => {
  await page.screenshot({ path: `${SCREENSHOTS}${name.toLowerCase()}.png`, fullPage: true })
}

/** What a finger would miss: controls that are lower than 40 px, the room around a link in a text included. */
export const smallTargetsOn = (page: Page): Promise<readonly string[]> =>
  page.evaluate<
    readonly string[]
  >(`[...document.querySelectorAll('button, select, summary, input, nav a')].flatMap((control) => {
    const { width, height } = (control.matches('[type=radio], [type=checkbox]') ? control.closest('label') ?? control : control).getBoundingClientRect()
    const room = Number.parseFloat(getComputedStyle(control, '::after').height) || 0
    return width === 0 || Math.max(height, room) >= 40 ? [] : [control.outerHTML.slice(0, 120)]
  })`)
