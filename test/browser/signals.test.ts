import { describe, expect, it } from 'vitest'
import { eventsOf, register, submit } from '../interface/acts.ts'
import { BROWSER, overflowsOn, PHONE, violationsOn, visit } from './browser.fixture.ts'
import { openPositions } from './engine.fixture.ts'
import { useSignedInPage } from './signed-in-page.fixture.ts'

describe.skipIf(BROWSER === undefined)('the signals page', () => {
  const dashboard = useSignedInPage({ prepare: openPositions, path: '/signals' })
  const rows = () => dashboard.page.getByRole('region', { name: 'Signals' }).getByRole('listitem')

  it('shows signals as they arrive, and pauses', async () => {
    await rows().first().waitFor()
    await register(dashboard.engine, 'ann')
    await submit(dashboard.engine, 'ann', {
      symbol: 'DOGE',
      direction: 'bearish',
      conviction: 4,
      rationale: 'overbought',
    })
    await rows().first().getByText('DOGE').waitFor()
    await dashboard.page.getByRole('button', { name: 'Pause' }).click()
    await submit(dashboard.engine, 'ann', { symbol: 'PEPE', direction: 'neutral', conviction: 1 })
    await dashboard.page.getByRole('button', { name: 'Resume · 1 new' }).waitFor()
    expect(await rows().getByText('PEPE').count()).toBe(0)
    await dashboard.page.getByRole('button', { name: 'Resume' }).click()
    await rows().first().getByText('PEPE').waitFor()
  })

  it('filters by domain, symbol and author, in the address', async () => {
    await dashboard.page.getByLabel('Author').fill('fan of SOL')
    await dashboard.page.getByText('1 signal in total').waitFor()
    await dashboard.page.getByRole('button', { name: 'Clear' }).click()
    await dashboard.page.getByText(/^\d\d signals/).waitFor()
    await dashboard.page.getByLabel('Domain').fill('etf')
    await dashboard.page.getByLabel('Symbol').fill('eth')
    await dashboard.page.getByText('2 signals in total').waitFor()
    expect(new URL(dashboard.page.url()).search).toContain('domain=etf')
    await dashboard.page.getByLabel('Symbol').fill('nothing')
    await dashboard.page.getByText('No matching signals').waitFor()
    await dashboard.page.getByRole('button', { name: 'Clear' }).click()
    await rows().first().waitFor()
  })

  it('shows the attribution and the proof of a signal', async () => {
    const signal = (await eventsOf(dashboard.engine, 'signal.curator')).find(
      ({ source }) => source === 'fan of SOL',
    )
    await visit(dashboard.page, `/signals?signal=${signal?.id}`)
    const sheet = dashboard.page.getByRole('dialog')
    for (const text of ['Submitted by a contributor', 'Used in 1 trade', 'Outcome'])
      await sheet.getByText(text).waitFor()
    for (const what of ['Hash', 'Link', 'Signature']) {
      await sheet.getByText(`${what}: valid`).waitFor()
    }
    expect(await violationsOn(dashboard.page)).toEqual([])
    await sheet.getByRole('link', { name: 'Open in the audit' }).click()
    await dashboard.page.getByRole('dialog', { name: 'signal.curator.v1', exact: true }).waitFor()
    expect(new URL(dashboard.page.url()).pathname).toBe('/audit')
    await visit(dashboard.page, '/signals')
  })

  it('submits a signal in the name of a contributor', async () => {
    await dashboard.page.getByRole('button', { name: 'Submit a signal' }).click()
    const form = dashboard.page.getByRole('dialog', { name: 'Submit a signal' })
    await form.getByLabel('Contributor').selectOption('ann')
    await form.getByLabel('Symbol').fill('btc')
    await form.getByLabel('Conviction').fill('8')
    await form.getByLabel('Rationale').fill('<script>alert(1)</script>')
    expect(await violationsOn(dashboard.page)).toEqual([])
    await form.getByRole('button', { name: 'Submit' }).click()
    await dashboard.page.getByRole('dialog', { name: 'BTC · signal.curator.v1' }).waitFor()
    await dashboard.page.getByLabel('Rationale').getByText('<script>alert(1)</script>').waitFor()
    expect((await eventsOf(dashboard.engine, 'signal.curator'))[0]).toMatchObject({
      source: 'ann',
      payload: { symbol: 'BTC', direction: 'bullish', conviction: 8 },
    })
    await dashboard.page.keyboard.press('Escape')
  })

  it('is accessible, fits a phone and has no errors', async () => {
    await rows().first().waitFor()
    expect(await violationsOn(dashboard.page)).toEqual([])
    await dashboard.page.setViewportSize(PHONE)
    await dashboard.page.getByRole('button', { name: 'Filters' }).click()
    expect(await overflowsOn(dashboard.page)).toBe(false)
    expect(dashboard.problems).toEqual([])
  })
})
