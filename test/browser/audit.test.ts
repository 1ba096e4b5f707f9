import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { eventsOf } from '../interface/acts.ts'
import { TOKEN } from '../interface/service.ts'
import { BROWSER, openPage, overflowsOn, PHONE, signIn, violationsOn, visit } from './browser.fixture.ts'
import { headSeq, openPositions, price } from './engine.fixture.ts'
import { useSignedInPage } from './signed-in-page.fixture.ts'

describe.skipIf(BROWSER === undefined)('the audit page', () => {
  const dashboard = useSignedInPage({ prepare: openPositions, path: '/audit' })
  const rows = () => dashboard.page.getByRole('region', { name: 'Events', exact: true }).getByRole('listitem')

  it('finds events by type, symbol, author, id and time', async () => {
    const [opened] = await eventsOf(dashboard.engine, 'execution.position_opened')
    await dashboard.page.getByLabel('Type').fill('execution.position_opened')
    await dashboard.page.getByText('2 events in total').waitFor()
    await dashboard.page.getByLabel('Symbol').fill('ETH')
    await dashboard.page.getByText('1 event in total').waitFor()
    await dashboard.page.getByLabel('Author').fill('nobody')
    await dashboard.page.getByText('No matching events').waitFor()
    await dashboard.page.getByRole('button', { name: 'Clear' }).click()
    await dashboard.page.getByLabel('Trace or id').fill(`trace:${opened?.trace_id}`)
    await rows().getByText('execution.position_opened.v1').first().waitFor()
    await dashboard.page.getByRole('button', { name: 'Clear' }).click()
    await dashboard.page.getByLabel('From (your time)').fill('2099-01-01T00:00:00')
    await dashboard.page.getByText('No matching events').waitFor()
    await dashboard.page.getByRole('button', { name: 'Clear' }).click()
    await rows().first().waitFor()
  })

  it('offers newer events without moving the list', async () => {
    await price(dashboard.engine, 'ETH', 102.5)
    await dashboard.page.getByRole('button', { name: /^Show \d+ newer event/ }).click()
    await rows().first().waitFor()
  })

  it('shows an event with its proof, causes and effects', async () => {
    const intents = await eventsOf(dashboard.engine, 'execution.trade_intent')
    const intent = intents.find(({ payload }) => payload['symbol'] === 'SOL')
    await visit(dashboard.page, `/audit?event=${intent?.id}`)
    const sheet = dashboard.page.getByRole('dialog', { name: 'execution.trade_intent.v1' })
    for (const what of ['Hash', 'Link', 'Signature']) await sheet.getByText(`${what}: valid`).waitFor()
    await sheet
      .getByRole('link', { name: /brain.conviction.v1/ })
      .first()
      .waitFor()
    expect(await violationsOn(dashboard.page)).toEqual([])
    await sheet
      .getByRole('link', { name: /execution.position_opened.v1/ })
      .first()
      .click()
    await dashboard.page.getByRole('dialog', { name: 'execution.position_opened.v1' }).waitFor()
    await dashboard.page.getByRole('link', { name: /execution.position_closed.v1/ }).waitFor()
    await dashboard.page.keyboard.press('Escape')
  })

  it('verifies the newest events, and all', async () => {
    await dashboard.page.getByRole('button', { name: 'Verify' }).click()
    await dashboard.page.getByText(/^The newest [\d,]+ of [\d,]+ events/).waitFor()
    await dashboard.page.getByLabel('What to verify').selectOption('all')
    await dashboard.page.getByRole('button', { name: 'Verify' }).click()
    await dashboard.page.getByText(/^All [\d,]+ events/).waitFor()
    await dashboard.page.getByText('Verified', { exact: true }).waitFor()
  })

  it('exports all events as JSON Lines', async () => {
    const count = await headSeq(dashboard.engine)
    const waiting = dashboard.page.waitForEvent('download')
    await dashboard.page.getByRole('button', { name: 'Export' }).click()
    const path = await (await waiting).path()
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n')
    expect(lines.length).toBeGreaterThanOrEqual(count)
    expect(lines.slice(0, 3).map((line) => (JSON.parse(line) as { seq: number }).seq)).toEqual([1, 2, 3])
  })

  it('shows times in the zone of the viewer, and UTC on hover', async () => {
    const zone = { timezoneId: 'Asia/Kolkata', locale: 'en-GB' }
    const there = await openPage(dashboard.browser, dashboard.engine.dashboardUrl, zone)
    await signIn(there.page, `${dashboard.engine.dashboardUrl}/audit?type=system.started`, TOKEN)
    const time = there.page.getByRole('region', { name: 'Events', exact: true }).locator('time').first()
    const at = new Date((await time.getAttribute('datetime')) ?? '')
    const clock = at.toLocaleTimeString('en-GB', { timeZone: 'Asia/Kolkata' })
    expect(await time.textContent()).toContain(clock)
    expect(await time.getAttribute('title')).toBe(`${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`)
    await there.close()
  })

  it('is accessible, fits a phone and has no errors', async () => {
    expect(await violationsOn(dashboard.page)).toEqual([])
    await dashboard.page.setViewportSize(PHONE)
    await dashboard.page.getByRole('button', { name: 'Filters' }).click()
    expect(await overflowsOn(dashboard.page)).toBe(false)
    expect(dashboard.problems).toEqual([])
  })
})
