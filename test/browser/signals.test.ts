import { describe, expect, it } from 'vitest'
import { eventsOf, register, submit } from '../interface/acts.ts'
import { BROWSER, overflowsOn, PHONE, violationsOn } from './browser.ts'
import { openPositions } from './engine.ts'
import { onStage } from './stage.ts'

describe.skipIf(BROWSER === undefined)('the signals page', () => {
  const stage = onStage({ prepare: openPositions, path: '/signals' })
  const rows = () => stage.page.getByRole('region', { name: 'Signals' }).getByRole('listitem')

  it('shows signals as they come, and holds still when asked', async () => {
    await rows().first().waitFor()
    await register(stage.engine, 'ann')
    await submit(stage.engine, 'ann', {
      symbol: 'DOGE',
      direction: 'bearish',
      conviction: 4,
      rationale: 'too loud',
    })
    await rows().first().getByText('DOGE').waitFor()
    await stage.page.getByRole('button', { name: 'Hold' }).click()
    await submit(stage.engine, 'ann', { symbol: 'PEPE', direction: 'neutral', conviction: 1 })
    await stage.page.getByRole('button', { name: 'Go on · 1 new' }).waitFor()
    expect(await rows().getByText('PEPE').count()).toBe(0)
    await stage.page.getByRole('button', { name: 'Go on' }).click()
    await rows().first().getByText('PEPE').waitFor()
  })

  it('filters by domain, symbol and author, in the address', async () => {
    await stage.page.getByLabel('Author').fill('fan of SOL')
    await stage.page.getByText('1 signal, all there are').waitFor()
    await stage.page.getByRole('button', { name: 'Clear' }).click()
    await stage.page.getByText(/^\d\d signals/).waitFor()
    await stage.page.getByLabel('Domain').fill('etf')
    await stage.page.getByLabel('Symbol').fill('eth')
    await stage.page.getByText('1 signal, all there are').waitFor()
    expect(new URL(stage.page.url()).search).toContain('domain=etf')
    await stage.page.getByLabel('Symbol').fill('nothing')
    await stage.page.getByText('No signal passes the filter').waitFor()
    await stage.page.getByRole('button', { name: 'Clear' }).click()
    await rows().first().waitFor()
  })

  it('tells the story of a signal, and proves it', async () => {
    const signal = (await eventsOf(stage.engine, 'signal.curator')).find(
      ({ source }) => source === 'fan of SOL',
    )
    await stage.page.goto(`${stage.engine.dashboardUrl}/signals?signal=${signal?.id}`)
    const sheet = stage.page.getByRole('dialog')
    for (const text of ['Said by a contributor', 'Behind 1 trade', 'Outcome'])
      await sheet.getByText(text).waitFor()
    for (const what of ['Hash', 'Link', 'Signature']) {
      await sheet.getByText(`${what}: right`).waitFor()
    }
    expect(await violationsOn(stage.page)).toEqual([])
    await sheet.getByRole('link', { name: 'Open in the audit' }).click()
    await stage.page.getByRole('dialog', { name: 'signal.curator.v1', exact: true }).waitFor()
    expect(new URL(stage.page.url()).pathname).toBe('/audit')
    await stage.page.goto(`${stage.engine.dashboardUrl}/signals`)
  })

  it('submits a signal in the name of a contributor', async () => {
    await stage.page.getByRole('button', { name: 'Submit a signal' }).click()
    const form = stage.page.getByRole('dialog', { name: 'Submit a signal' })
    await form.getByLabel('Contributor').selectOption('ann')
    await form.getByLabel('Symbol').fill('btc')
    await form.getByLabel('Conviction').fill('8')
    await form.getByLabel('Rationale').fill('<script>alert(1)</script>')
    expect(await violationsOn(stage.page)).toEqual([])
    await form.getByRole('button', { name: 'Submit' }).click()
    await stage.page.getByRole('dialog', { name: 'BTC · signal.curator.v1' }).waitFor()
    await stage.page.getByLabel('Rationale').getByText('<script>alert(1)</script>').waitFor()
    expect((await eventsOf(stage.engine, 'signal.curator'))[0]).toMatchObject({
      source: 'ann',
      payload: { symbol: 'BTC', direction: 'bullish', conviction: 8 },
    })
    await stage.page.keyboard.press('Escape')
  })

  it('is accessible, fits a phone and never complains', async () => {
    await rows().first().waitFor()
    expect(await violationsOn(stage.page)).toEqual([])
    await stage.page.setViewportSize(PHONE)
    await stage.page.getByRole('button', { name: 'Filters' }).click()
    expect(await overflowsOn(stage.page)).toBe(false)
    expect(stage.complaints).toEqual([])
  })
})
