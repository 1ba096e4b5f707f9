import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { eventsOf } from '../interface/acts.ts'
import { TOKEN } from '../interface/service.ts'
import { BROWSER, openPage, overflowsOn, PHONE, signIn, violationsOn } from './browser.ts'
import { headSeq, openPositions, price } from './engine.ts'
import { onStage } from './stage.ts'

describe.skipIf(BROWSER === undefined)('the audit page', () => {
  const stage = onStage({ prepare: openPositions, path: '/audit' })
  const rows = () => stage.page.getByRole('region', { name: 'Events', exact: true }).getByRole('listitem')

  it('finds events by type, symbol, author, id and time', async () => {
    const [opened] = await eventsOf(stage.engine, 'execution.position_opened')
    await stage.page.getByLabel('Type').fill('execution.position_opened')
    await stage.page.getByText('2 events, all there are').waitFor()
    await stage.page.getByLabel('Symbol').fill('ETH')
    await stage.page.getByText('1 event, all there are').waitFor()
    await stage.page.getByLabel('Author').fill('nobody')
    await stage.page.getByText('No event passes the filter').waitFor()
    await stage.page.getByRole('button', { name: 'Clear' }).click()
    await stage.page.getByLabel('Trace or id').fill(`trace:${opened?.trace_id}`)
    await rows().getByText('execution.position_opened.v1').first().waitFor()
    await stage.page.getByRole('button', { name: 'Clear' }).click()
    await stage.page.getByLabel('From (your time)').fill('2099-01-01T00:00:00')
    await stage.page.getByText('No event passes the filter').waitFor()
    await stage.page.getByRole('button', { name: 'Clear' }).click()
    await rows().first().waitFor()
  })

  it('offers newer events without moving what one reads', async () => {
    await price(stage.engine, 'ETH', 102.5)
    await stage.page.getByRole('button', { name: /^Show \d+ newer event/ }).click()
    await rows().first().waitFor()
  })

  it('shows a record with its proof, its causes and its consequences', async () => {
    const intents = await eventsOf(stage.engine, 'execution.trade_intent')
    const intent = intents.find(({ payload }) => payload['symbol'] === 'SOL')
    await stage.page.goto(`${stage.engine.dashboardUrl}/audit?event=${intent?.id}`)
    const sheet = stage.page.getByRole('dialog', { name: 'execution.trade_intent.v1' })
    for (const what of ['Hash', 'Link', 'Signature']) await sheet.getByText(`${what}: right`).waitFor()
    await sheet
      .getByRole('link', { name: /brain.conviction.v1/ })
      .first()
      .waitFor()
    expect(await violationsOn(stage.page)).toEqual([])
    await sheet
      .getByRole('link', { name: /execution.position_opened.v1/ })
      .first()
      .click()
    await stage.page.getByRole('dialog', { name: 'execution.position_opened.v1' }).waitFor()
    await stage.page.getByRole('link', { name: /execution.position_closed.v1/ }).waitFor()
    await stage.page.keyboard.press('Escape')
  })

  it('verifies the newest events, and all', async () => {
    await stage.page.getByRole('button', { name: 'Verify' }).click()
    await stage.page.getByText(/^The newest [\d,]+ of [\d,]+ events/).waitFor()
    await stage.page.getByLabel('What to verify').selectOption('all')
    await stage.page.getByRole('button', { name: 'Verify' }).click()
    await stage.page.getByText(/^All [\d,]+ events/).waitFor()
    await stage.page.getByText('Verified', { exact: true }).waitFor()
  })

  it('exports all there is, line by line', async () => {
    const count = await headSeq(stage.engine)
    const waiting = stage.page.waitForEvent('download')
    await stage.page.getByRole('button', { name: 'Export' }).click()
    const path = await (await waiting).path()
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n')
    expect(lines.length).toBeGreaterThanOrEqual(count)
    expect(lines.slice(0, 3).map((line) => (JSON.parse(line) as { seq: number }).seq)).toEqual([1, 2, 3])
  })

  it('shows times in the zone of the viewer, and UTC on hover', async () => {
    const zone = { timezoneId: 'Asia/Kolkata', locale: 'en-GB' }
    const there = await openPage(stage.browser, stage.engine.dashboardUrl, zone)
    await signIn(there.page, `${stage.engine.dashboardUrl}/audit?type=system.started`, TOKEN)
    const time = there.page.getByRole('region', { name: 'Events', exact: true }).locator('time').first()
    const at = new Date((await time.getAttribute('datetime')) ?? '')
    const clock = at.toLocaleTimeString('en-GB', { timeZone: 'Asia/Kolkata' })
    expect(await time.textContent()).toContain(clock)
    expect(await time.getAttribute('title')).toBe(`${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`)
    await there.close()
  })

  it('is accessible, fits a phone and never complains', async () => {
    expect(await violationsOn(stage.page)).toEqual([])
    await stage.page.setViewportSize(PHONE)
    await stage.page.getByRole('button', { name: 'Filters' }).click()
    expect(await overflowsOn(stage.page)).toBe(false)
    expect(stage.complaints).toEqual([])
  })
})
