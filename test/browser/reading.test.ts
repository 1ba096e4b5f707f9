import type { Page, Route } from 'playwright-core'
import { describe, expect, it, vi } from 'vitest'
import { registerProducer } from '../interface/acts.ts'
import { agreementOn, bullMarket } from '../interface/opinions.ts'
import { TOKEN } from '../interface/service.ts'
import { BROWSER, DESKTOP, openPage, PHONE, settled, signIn } from './browser.fixture.ts'
import { price, type RunningEngine } from './engine.fixture.ts'
import { useSignedInPage } from './signed-in-page.fixture.ts'

const TINY_PRICE = 0.000_009_88

interface Position {
  readonly id: string
  readonly status: string
}

const positionsOf = async (engine: RunningEngine): Promise<readonly Position[]> =>
  (await engine.call('GET', '/positions')).body

/** Opens a position of many millions, at a price of almost zero. */
const openTiny = async (engine: RunningEngine): Promise<void> => {
  await registerProducer(engine, 'ticker', 'technical')
  await bullMarket(engine)
  await price(engine, 'SOL', TINY_PRICE)
  await agreementOn(engine, 'SOL')
  await engine.call('POST', '/brain/run')
  const isHeld = async (): Promise<void> => expect(await positionsOf(engine)).toHaveLength(1)
  await vi.waitFor(isHeld, { timeout: 30_000 })
}

type Item = Readonly<Record<string, unknown>>

/** The service's answer, with changed items. */
const withItems =
  (change: (item: Item, index: number) => Item) =>
  async (route: Route): Promise<void> => {
    const response = await route.fetch()
    const body = (await response.json()) as Item[] | { readonly items: Item[] }
    const json = Array.isArray(body) ? body.map(change) : { ...body, items: body.items.map(change) }
    await route.fulfill({ response, json })
  }

const withFirst = (members: Item) =>
  withItems((item, index) => (index === 0 ? { ...item, ...members } : item))

const dayBefore = ({ ts, ...rest }: Item): Item => ({
  ...rest,
  ts: new Date(Date.parse(String(ts)) - 86_400_000).toISOString(),
})

/** Times that are wider than their column. */
const wideTimes = (page: Page): Promise<readonly string[]> =>
  page.evaluate<readonly string[]>(`[...document.querySelectorAll('main time')].flatMap((time) =>
    time.getBoundingClientRect().right > time.parentElement.getBoundingClientRect().right + 1 ? [time.textContent] : [])`)

/** Values of a sheet that overflow. */
const overflowing = (page: Page): Promise<readonly string[]> =>
  page.evaluate<readonly string[]>(`[...document.querySelectorAll('[role=dialog] dd')].flatMap((value) =>
    value.scrollWidth > value.clientWidth ? [value.textContent] : [])`)

describe.skipIf(BROWSER === undefined)('what a page says', () => {
  const dashboard = useSignedInPage({ prepare: openTiny })

  it('stays in its place, however many of an asset are held', async () => {
    const { page, engine } = dashboard
    const [position] = await positionsOf(engine)
    await page.goto(`${engine.dashboardUrl}/positions?position=${position?.id}`)
    const quantity = page.getByRole('dialog').getByText(/^\d{2},\d{3},\d{3}\.\d+/)
    await quantity.waitFor()
    expect(await overflowing(page)).toEqual([])
  })

  it('has no colour where it reads as nothing', async () => {
    const { page, engine } = dashboard
    const isOpen = /\/api\/v1\/positions\?.*open/
    await page.route(isOpen, withFirst({ unrealized_pnl: -0.001 }))
    await page.goto(`${engine.dashboardUrl}/positions`)
    const row = page.getByRole('region', { name: 'Open positions' }).getByRole('row', { name: 'SOL' })
    await row.getByText('$0.00', { exact: true }).waitFor()
    await row.getByText('0.00 %', { exact: true }).waitFor()
    expect(await row.locator('.text-bad').count()).toBe(0)
    await page.unroute(isOpen)
  })

  it('is there all the same where the time of an event is none', async () => {
    const { page, engine } = dashboard
    await page.route('**/api/v1/events?*', withFirst({ ts: 'no time' }))
    await page.goto(`${engine.dashboardUrl}/audit`)
    await settled(page, 'Audit')
    await page.getByText('no time', { exact: true }).waitFor()
    await page.getByText('events in total').waitFor()
    await page.unroute('**/api/v1/events?*')
  })

  it('has times that fit into their columns, also those of yesterday', async () => {
    const { page, engine } = dashboard
    await page.route('**/api/v1/events?*', withItems(dayBefore))
    for (const [path, title] of [
      ['/signals', 'Signals'],
      ['/audit', 'Audit'],
    ] as const) {
      for (const viewport of [DESKTOP, PHONE]) {
        await page.setViewportSize(viewport)
        await page.goto(engine.dashboardUrl + path)
        await settled(page, title)
        await page.getByText(/^\d+ (signals|events) in total$/).waitFor()
        expect(await page.locator('main time').count()).toBeGreaterThan(3)
        expect(await wideTimes(page), `${title} at ${viewport.width}`).toEqual([])
      }
    }
    await page.setViewportSize(DESKTOP)
    await page.unroute('**/api/v1/events?*')
  })

  it('can be copied or is said not to be, also where the browser offers no clipboard', async () => {
    const { page, engine } = dashboard
    await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    const [position] = await positionsOf(engine)
    await page.goto(`${engine.dashboardUrl}/positions?position=${position?.id}`)
    // The message disappears by itself, so the wait starts before the press.
    await Promise.all([
      page.getByText('The browser did not allow copying').waitFor(),
      page.getByRole('button', { name: `Copy ${position?.id}` }).click(),
    ])
    expect(dashboard.problems).toEqual([])
  })

  it('reads the same in every language, on a phone too, where an alert has a line of its own', async () => {
    const { browser, engine } = dashboard
    await engine.call('POST', '/kill-switch', { body: { level: 1, reason: 'a reason of some words' } })
    const phone = await openPage(browser, engine.dashboardUrl, {
      viewport: PHONE,
      locale: 'ar-EG',
      timezoneId: 'Asia/Tokyo',
    })
    await signIn(phone.page, `${engine.dashboardUrl}/risk`, TOKEN)
    const history = phone.page.getByRole('list', { name: 'Kill switch changes' })
    await expect
      .poll(() => history.locator('time').first().textContent())
      .toMatch(/^(\d{4}-\d{2}-\d{2} )?\d{2}:\d{2}:\d{2}$/)
    const alert = phone.page.getByRole('region', { name: 'Alert to acknowledge' }).locator('bdi')
    expect(await alert.textContent()).toBe('a reason of some words')
    expect((await alert.boundingBox())?.width).toBeGreaterThan(PHONE.width * 0.8)
    await phone.close()
  })
})
