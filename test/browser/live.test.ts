import { canonicalSymbol } from '../../src/core/shared/symbol.ts'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MemoryLog } from '../../src/adapters/storage/memory/memory-log.ts'
import type { JsonObject } from '../../src/core/shared/json.ts'
import { priceFrom, quantityFrom } from '../../src/core/shared/money.ts'
import { startTestDashboard, type TestDashboard } from '../../src/surfaces/dashboard/dashboard.fixture.ts'
import { TOKEN } from '../../src/surfaces/http/test-server.fixture.ts'
import { appendTo, timeAt } from '../records.fixture.ts'
import {
  BROWSER,
  DESKTOP,
  drawn,
  launch,
  openPage,
  overflowsOn,
  PHONE,
  signIn,
  violationsOn,
  visit,
  closePages,
} from './browser.fixture.ts'

const VENUE = 'binanceusdm'
const EVERY_PAGE = ['/', '/signals', '/positions', '/brain', '/alerts', '/audit', '/settings']
const WIDTHS = [320, 375, 768, 1440]
const PAGES = fileURLToPath(new URL('../../dashboard/dist', import.meta.url))

/** An order at the venue that cannot be looked up, one that is to be canceled, and one that failed. */
const ORDERS: readonly (readonly [type: string, payload: JsonObject])[] = [
  ['execution.order_submitted.v1', order('lost')],
  ['execution.order_unknown.v1', { order_id: 'lost', symbol: 'BTC', reason: 'timeout' }],
  [
    'execution.order_reconciled.v1',
    { order_id: 'lost', found: false, venue_status: null, lookups: 0, action: 'operator' },
  ],
  ['execution.order_submitted.v1', order('slow')],
  [
    'execution.cancel_requested.v1',
    { order_id: 'slow', symbol: 'BTC', reason: 'kill_switch', requested_by: null },
  ],
  ['execution.order_submitted.v1', order('ended')],
  [
    'execution.order_canceled.v1',
    { order_id: 'ended', position_id: 'p', intent_id: null, reason: 'expired', filled_size: 0 },
  ],
]

function order(id: string): JsonObject {
  return {
    order_id: id,
    position_id: `position-${id}`,
    intent_id: null,
    venue: VENUE,
    type: 'limit',
    side: 'buy',
    symbol: 'BTC',
    size_notional: 100,
    reduce_only: false,
    idempotency_key: id,
    quantity: 1,
    limit_price: 100,
    reference_price: 100,
    reference_ts: timeAt(1),
    trigger: null,
    limits: {},
    exit_reason: null,
    valid_until: null,
  }
}

describe.skipIf(BROWSER === undefined)('live trading', () => {
  let browser: Browser
  let dashboard: TestDashboard
  let page: Page
  let problems: readonly string[]
  beforeAll(async () => {
    const log = new MemoryLog()
    await appendTo(log, ORDERS.length, (seq) => {
      const [type = '', payload = {}] = ORDERS[seq - 1] ?? []
      return { type, payload, source: 'oms', ts: timeAt(seq) }
    })
    const settings = { execution: { mode: 'live', venue: VENUE } }
    ;[browser, dashboard] = await Promise.all([
      launch(),
      startTestDashboard({ api: { log, settings }, folder: PAGES }),
    ])
    await dashboard.api.engine.execute({
      kind: 'compare-account',
      sweep: {
        venue: VENUE,
        quietSymbols: [canonicalSymbol('ETH')],
        liquidations: [],
        positions: [
          {
            symbol: 'ETH',
            direction: 'short',
            quantity: quantityFrom(2),
            entryPrice: priceFrom(100),
            leverage: 1,
          },
        ],
      },
    })
    ;({ page, problems } = await openPage(browser, dashboard.url))
    await signIn(page, dashboard.url, TOKEN)
  })
  afterAll(async () => {
    await closePages(browser)
    await dashboard.close()
  })

  it.each(EVERY_PAGE)('frames %s at every width, with the venue and its state', async (path) => {
    await page.goto(dashboard.url + path)
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 })
      const mode = page.getByRole('region', { name: 'Live trading mode' })
      await mode.getByText('LIVE', { exact: true }).waitFor()
      await mode.getByText(`real money at ${VENUE}`).waitFor()
      await mode.getByRole('link', { name: 'reduce only' }).waitFor()
      await drawn(page)
      expect(await overflowsOn(page), `${width} px`).toBe(false)
    }
    await page.setViewportSize(DESKTOP)
    await visit(page, '/')
  })

  it('calls the money of the paper account what it is, as long as nothing is confirmed', async () => {
    const account = page.getByRole('region', { name: 'Account' })
    await account.getByText('paper', { exact: true }).waitFor()
    expect(await account.getByText('live money').count()).toBe(0)
  })

  it('lists mode, venue, blockers and unknown orders', async () => {
    await page.goto(`${dashboard.url}/risk`)
    const panel = page.getByRole('region', { name: 'Live trading', exact: true })
    for (const text of ['held back', VENUE, 'Not confirmed', 'State of 1 order unknown', 'Reduce only'])
      await panel.getByText(text).first().waitFor()
    await panel.getByTitle('lost', { exact: true }).waitFor()
    await panel.getByRole('button', { name: 'Resume' }).waitFor()
    await page.goto(dashboard.url)
  })

  it('announces on the overview what needs an operator', async () => {
    const notices = page.getByRole('alert', { name: 'Operator needed' })
    await notices.getByText('1 order needs an operator').waitFor()
    await notices.getByText('Live trading is reduce only').waitFor()
    await notices.getByRole('link', { name: '1 adopted position' }).click()
    const row = page
      .getByRole('region', { name: 'Open positions' })
      .getByRole('row', { name: /ETH short adopted/ })
    await row.getByRole('button', { name: /ETH short/ }).click()
    await page.getByRole('dialog').getByText(`${VENUE} holds it, so it was adopted`).waitFor()
    expect(await violationsOn(page)).toEqual([])
    await page.keyboard.press('Escape')
  })

  it('lists everything that holds live trading back', async () => {
    await page.goto(`${dashboard.url}/risk`)
    const blockers = page.getByRole('list', { name: 'What holds live trading back' })
    for (const title of [
      'Not confirmed',
      'Venue not checked yet',
      'Reduce only',
      'State of 1 order unknown',
      'Paper period is not over',
    ])
      await blockers.getByText(title, { exact: true }).waitFor()
    await page.getByRole('region', { name: 'Limits' }).getByText('live trading is held back').waitFor()
    expect(await violationsOn(page)).toEqual([])
  })

  it('shows why orders are canceled', async () => {
    const open = page.getByRole('region', { name: 'Open orders' })
    await open.getByText('cancel requested: kill switch raised').waitFor()
    await page.getByLabel('Which orders').selectOption('all')
    const ended = page.getByRole('region', { name: 'All orders' }).getByRole('row', { name: /canceled/ })
    await ended.getByText('not filled in time').waitFor()
  })

  it('lets an operator end an order that cannot be looked up', async () => {
    const notice = page.getByRole('alert').filter({ hasText: `Operator needed: buy 1 BTC at ${VENUE}` })
    await notice.getByRole('button', { name: /^Mark as canceled/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Mark as canceled' }).click()
    await notice.waitFor({ state: 'detached' })
    await page.getByRole('region', { name: 'All orders' }).getByText('checked at the venue').waitFor()
    expect((await dashboard.api.call('GET', '/live')).body).toMatchObject({ unknown_orders: [] })
  })

  it('resumes entries with a reason', async () => {
    await page.getByRole('button', { name: 'Resume' }).click()
    const dialog = page.getByRole('dialog', { name: 'Allow entries again?' })
    expect(await dialog.getByRole('button', { name: 'Resume' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Reason').fill('short is mine')
    await dialog.getByRole('button', { name: 'Resume' }).click()
    await page.getByText('Reduce only', { exact: true }).waitFor({ state: 'detached' })
    expect((await dashboard.api.call('GET', '/live')).body).toMatchObject({ reduce_only: null })
  })

  it('fits a phone and has no errors', async () => {
    await page.setViewportSize(PHONE)
    expect(await overflowsOn(page)).toBe(false)
    expect(problems).toEqual([])
  })
})
