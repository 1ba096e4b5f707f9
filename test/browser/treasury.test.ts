import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BROWSER, overflowsOn, PHONE, violationsOn } from './browser.ts'
import { openPositions } from './engine.ts'
import { onStage } from './stage.ts'

/** A release that writes no karma intents has nothing to settle; its list of events says so. */
const OWES_KARMA = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8').includes(
  '`karma.intent.v1`',
)

describe.skipIf(BROWSER === undefined)('the treasury page', () => {
  const stage = onStage({ prepare: openPositions, path: '/treasury' })

  it.runIf(OWES_KARMA)('shows what a winning trade owes, to whom, and checks who signed it', async () => {
    const owed = stage.page.getByRole('region', { name: 'Karma intents' })
    await owed.getByText('signature valid').waitFor()
    await owed.getByRole('row').nth(1).getByRole('button').first().click()
    const sheet = stage.page.getByRole('dialog')
    await sheet.getByText('signature valid').waitFor()
    await sheet.getByText('Name of fan of SOL').waitFor()
    await stage.page.keyboard.press('Escape')
  })

  it.runIf(OWES_KARMA)('settles it, and anybody can check the receipt', async () => {
    await stage.page.getByLabel(/^Select /).check()
    await stage.page.getByRole('button', { name: /^Settle 1 / }).click()
    await stage.page.getByLabel('Transaction').fill('0xabc')
    await stage.page.getByRole('dialog').getByRole('button', { name: 'Settle' }).click()
    const receipts = stage.page.getByRole('region', { name: 'All receipts' })
    await receipts.getByText('submitted').waitFor()
    await receipts.getByText('signature valid').waitFor()
    await stage.page.getByText('Nothing waits').waitFor()
    await receipts.getByRole('row').nth(1).getByRole('button').first().click()
    await stage.page.getByRole('dialog').getByText('node -e').waitFor()
    expect(await violationsOn(stage.page)).toEqual([])
    await stage.page.keyboard.press('Escape')
  })

  it('says whether the wallet is locked', async () => {
    await stage.page.getByText('not locked yet').waitFor()
  })

  it('is accessible, fits a phone and never complains', async () => {
    expect(await violationsOn(stage.page)).toEqual([])
    await stage.page.setViewportSize(PHONE)
    expect(await overflowsOn(stage.page)).toBe(false)
    expect(stage.complaints).toEqual([])
  })
})
