import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BROWSER, overflowsOn, PHONE, violationsOn } from './browser.fixture.ts'
import { openPositions } from './engine.fixture.ts'
import { useSignedInPage } from './signed-in-page.fixture.ts'

/** Without karma intents there is nothing to settle. */
const HAS_KARMA = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8').includes(
  '`karma.intent.v1`',
)

describe.skipIf(BROWSER === undefined)('the treasury page', () => {
  const dashboard = useSignedInPage({ prepare: openPositions, path: '/treasury' })

  it.runIf(HAS_KARMA)(
    'shows the share of a profitable trade, its contributors, and verifies the signature',
    async () => {
      const pending = dashboard.page.getByRole('region', { name: 'Karma intents' })
      await pending.getByText('signature valid').waitFor()
      await pending.getByRole('row').nth(1).getByRole('button').first().click()
      const sheet = dashboard.page.getByRole('dialog')
      await sheet.getByText('signature valid').waitFor()
      await sheet.getByText('Name of fan of SOL').waitFor()
      await dashboard.page.keyboard.press('Escape')
    },
  )

  it.runIf(HAS_KARMA)('settles it, and the receipt can be verified', async () => {
    await dashboard.page.getByLabel(/^Select /).check()
    await dashboard.page.getByRole('button', { name: /^Settle 1 / }).click()
    await dashboard.page.getByLabel('Transaction').fill('0xabc')
    await dashboard.page.getByRole('dialog').getByRole('button', { name: 'Settle' }).click()
    const receipts = dashboard.page.getByRole('region', { name: 'All receipts' })
    await receipts.getByText('submitted').waitFor()
    await receipts.getByText('signature valid').waitFor()
    await dashboard.page.getByText('Nothing pending').waitFor()
    await receipts.getByRole('row').nth(1).getByRole('button').first().click()
    await dashboard.page.getByRole('dialog').getByText('node -e').waitFor()
    expect(await violationsOn(dashboard.page)).toEqual([])
    await dashboard.page.keyboard.press('Escape')
  })

  it('shows whether the wallet is locked', async () => {
    await dashboard.page.getByText('not locked yet').waitFor()
  })

  it('is accessible, fits a phone and has no errors', async () => {
    expect(await violationsOn(dashboard.page)).toEqual([])
    await dashboard.page.setViewportSize(PHONE)
    expect(await overflowsOn(dashboard.page)).toBe(false)
    expect(dashboard.problems).toEqual([])
  })
})
